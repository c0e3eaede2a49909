/** When a failed fetch is tried again: exponential backoff with full jitter, and what the server asks for. */

/** So many tries that bring nothing further; then the schedule's next time is waited for. */
export const triesMax = 5;
const firstMs = 1_000;
const longestMs = 60_000;
/** Who asks for more patience is left alone until the schedule's next time. */
export const retryAfterMsMax = 120_000;

/** Any time up to twice the one before: clients that failed together do not come back together. @param failures from 1 */
export function backoffMs(failures: number, random: () => number): number {
  return Math.round(random() * Math.min(longestMs, firstMs * 2 ** failures));
}

/** The header's value (RFC 9110 §10.2.3), seconds or a date, in ms from now; null where it is neither or has passed. */
export function readRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  const ms = /^\s*\d{1,9}\s*$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}
