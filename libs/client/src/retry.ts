/** When to retry: as the response says, only if a retry can help, and not at the same time as other clients. */

import { NetfactsProblem, NetfactsUnreachable } from "./errors.ts";
import { numberOf } from "./limits.ts";
import { spreadMsMax } from "./options.ts";

/** Problems that a short wait can fix. A used-up quota needs a long one, and too many failed keys need another key. */
const passingCodes: ReadonlySet<string> = new Set(["rate_limit_exceeded", "concurrency_limit_exceeded"]);
const passingStatuses: ReadonlySet<number> = new Set([502, 503, 504]);
const backoffMsFirst = 200;

/**
 * Milliseconds until the next try; null if there must be none.
 *
 * @param attempt  tries so far, from 1.
 * @param random   0 to 1: spreads the clients that wait.
 */
export function retryDelayMs(failure: unknown, attempt: number, waitMsMax: number, random: number): number | null {
  if (!canPass(failure)) return null;
  const asked = failure.retryAfterSeconds;
  const spread = backoffMsFirst * 2 ** (attempt - 1) * (0.5 + random / 2);
  if (asked === null) return Math.min(spread, waitMsMax);
  // Never before the given time; a little after it, because other clients return then too.
  return asked * 1_000 > waitMsMax ? null : asked * 1_000 + Math.min(spread, spreadMsMax);
}

/**
 * Seconds of `Retry-After` (RFC 9110, section 10.2.3), which may also be a date; null if it is absent or invalid.
 *
 * A date is compared with the `Date` of the response, because clocks differ, or with the current time if a browser hides that header.
 */
export function retryAfterSecondsOf(headers: Headers): number | null {
  const text = headers.get("retry-after");
  const seconds = numberOf(text);
  if (seconds !== null || text === null) return seconds;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return null;
  const sentAt = Date.parse(headers.get("date") ?? "");
  return Math.max(0, Math.ceil((at - (Number.isNaN(sentAt) ? Date.now() : sentAt)) / 1_000));
}

function canPass(failure: unknown): failure is NetfactsProblem | NetfactsUnreachable {
  if (failure instanceof NetfactsProblem) return passingCodes.has(failure.code) || passingStatuses.has(failure.status);
  if (failure instanceof NetfactsUnreachable)
    return failure.status === null || passingStatuses.has(failure.status) || failure.status === 429;
  return false;
}
