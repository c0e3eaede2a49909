/** Limits of every transport: what fits within one process also fits between processes. */

import type { Lane, RequestItem } from "./types.ts";

/** Most items of one frame. */
export const frameItemsMax: Readonly<Record<Lane, number>> = { single: 64, batch: 256 };

/** Most unanswered items of one service and lane; one caller gets three quarters of them. A further item is `overloaded`. */
export const queuedItemsMax = 4_096;

/** Retries of a `not_yet` before the caller gets `data_not_ready`: each try reaches a random responder. */
export const notYetRetriesMax = 3;

/** Whether a request costs more than a plain one. Costly requests have frames of their own, so that no plain request waits for them. */
export function isCostly({ units = 1 }: RequestItem): boolean {
  return units > 1;
}
