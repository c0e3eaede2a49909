/** Time as the RTR client takes it, so that a test can make hours pass. */

export interface RtrClock {
  /** ms that never jump. */
  monotonic(): number;
  /** Unix ms. */
  now(): number;
  /** Calls once, so many ms later. @returns what calls it off */
  after(ms: number, call: () => void): () => void;
}

/** A timer takes at most this; what is further away is looked at again then. */
const timerMsMax = 2 ** 31 - 1;

export const realClock: RtrClock = {
  monotonic: () => performance.now(),
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, Math.min(Math.max(0, Math.ceil(ms)), timerMsMax));
    return () => clearTimeout(timer);
  },
};
