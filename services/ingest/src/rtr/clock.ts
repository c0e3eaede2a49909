/** The clock of the RTR client, replaceable so that a test can let hours pass. */

export interface RtrClock {
  /** ms on a clock that never jumps. */
  monotonic(): number;
  /** Unix ms. */
  now(): number;
  /** Calls once, after `ms`. @returns a function that cancels the call */
  after(ms: number, call: () => void): () => void;
}

/** Longest time of a timer; a longer one fires then, and its caller sets another. */
const timerMsMax = 2 ** 31 - 1;

export const realClock: RtrClock = {
  monotonic: () => performance.now(),
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.min(Math.max(0, Math.ceil(ms)), timerMsMax));
    return () => clearTimeout(timer);
  },
};
