/** Times of a counter: its end, and the interval at which it is read again. */

import type { Policy, Window } from "../domain/limit-windows.ts";

const refillMs = 1_000;
const refillMsMin = 250;
const refillShare = 1 / 200;

/**
 * End of a counter, Unix ms: an hour after its window, so that a late return still finds it. A longer window is kept for its length: the store's clock
 * may be ahead and be corrected later, and what was leased of a day must not be leased again.
 */
export function counterEndMs(window: Window): number {
  return window.endMs + Math.max(3_600_000, window.endMs - window.startMs);
}

/**
 * Interval at which a block is refilled and the counter is read, in ms.
 *
 * @param spent  units of the block that are spent; the interval is shorter from 1/200 of the limit on.
 */
export function refillAfterMs({ limit }: Policy, spent: number): number {
  return spent >= limit * refillShare ? refillMsMin : refillMs;
}
