/** Bounds that every transport keeps, so that what fits in one process fits between processes. */

import type { Lane, RequestItem } from "./types.ts";

/** Items of one frame. */
export const frameItemsMax: Readonly<Record<Lane, number>> = { single: 64, batch: 256 };

/** Unanswered items of one service and lane, of which one caller gets three quarters; one more is `overloaded`. */
export const queuedItemsMax = 4_096;

/** How often a `not_yet` is asked again before the caller hears `data_not_ready`: responders are met at random. */
export const notYetRetriesMax = 3;

/** Whether a request costs more than a plain one: it travels in frames apart, so that none waits for it. */
export function isCostly({ units = 1 }: RequestItem): boolean {
  return units > 1;
}
