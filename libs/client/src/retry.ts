/** When to retry: as the response says, only if a retry can help, and not at the same time as other clients. */

import { NetfactsProblem, NetfactsUnreachable } from "./errors.ts";
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
  const asked = failure instanceof NetfactsProblem ? failure.retryAfterSeconds : null;
  const spread = backoffMsFirst * 2 ** (attempt - 1) * (0.5 + random / 2);
  if (asked === null) return Math.min(spread, waitMsMax);
  // Never before the given time; a little after it, because other clients return then too.
  return asked * 1_000 > waitMsMax ? null : asked * 1_000 + Math.min(spread, spreadMsMax);
}

function canPass(failure: unknown): boolean {
  if (failure instanceof NetfactsProblem) return passingCodes.has(failure.code) || passingStatuses.has(failure.status);
  if (failure instanceof NetfactsUnreachable)
    return failure.status === null || passingStatuses.has(failure.status) || failure.status === 429;
  return false;
}
