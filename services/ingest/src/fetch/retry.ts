/** When a failed fetch is tried again: exponential backoff with full jitter, and the server's `Retry-After`. */

/** Most tries in a row that receive nothing more; then the fetch waits for the schedule. */
export const triesMax = 5;
const firstMs = 1_000;
const longestMs = 60_000;
/** A server that asks for more time is not asked again before the schedule's next time. */
export const retryAfterMsMax = 120_000;

/** Any time up to twice the previous limit: clients that failed together do not come back together. @param failures  from 1 */
export function backoffMs(failures: number, random: () => number): number {
  return Math.round(random() * Math.min(longestMs, firstMs * 2 ** failures));
}

/** Reads the value of the header (RFC 9110 §10.2.3), seconds or a date, as ms from now; null if it is neither, or has passed. */
export function readRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  const ms = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}
