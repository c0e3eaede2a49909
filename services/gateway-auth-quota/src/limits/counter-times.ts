/** Times of a counter: how long it lasts, and how often it is read again. */

import type { Policy, Window } from "../domain/limit-windows.ts";

const refillMs = 1_000;
const refillMsMin = 250;
const refillShare = 1 / 200;

/** Counters outlive their window by an hour, so that a late return still finds them. Unix ms. */
export function counterEndMs(window: Window): number {
  return window.endMs + 3_600_000;
}

/**
 * A block is filled up so often, and what others lease is seen.
 *
 * @param spent  units of the block; sooner once they are a share of the limit.
 */
export function refillAfterMs({ limit }: Policy, spent: number): number {
  return spent >= limit * refillShare ? refillMsMin : refillMs;
}
