/** When to ask again: as the answer says, never for what a retry cannot mend, and never in step with other clients. */

import { NetfactsProblem, NetfactsUnreachable } from "./errors.ts";
import { spreadMsMax } from "./options.ts";

/** What waiting a moment can mend. The month's end is not a moment, and too many failed keys call for another key. */
const passingCodes: ReadonlySet<string> = new Set(["rate_limit_exceeded", "concurrency_limit_exceeded"]);
const passingStatuses: ReadonlySet<number> = new Set([502, 503, 504]);
const backoffMsFirst = 200;

/**
 * Milliseconds until the next try; null: there is none to make.
 *
 * @param attempt  tries so far, from 1.
 * @param random   0 to 1: spreads those who wait.
 */
export function retryDelayMs(failure: unknown, attempt: number, waitMsMax: number, random: number): number | null {
  if (!canPass(failure)) return null;
  const asked = failure instanceof NetfactsProblem ? failure.retryAfterSeconds : null;
  const spread = backoffMsFirst * 2 ** (attempt - 1) * (0.5 + random / 2);
  if (asked === null) return Math.min(spread, waitMsMax);
  // Never before the time that was told; a little after it, as everybody else comes then too.
  return asked * 1_000 > waitMsMax ? null : asked * 1_000 + Math.min(spread, spreadMsMax);
}

function canPass(failure: unknown): boolean {
  if (failure instanceof NetfactsProblem) return passingCodes.has(failure.code) || passingStatuses.has(failure.status);
  if (failure instanceof NetfactsUnreachable)
    return failure.status === null || passingStatuses.has(failure.status) || failure.status === 429;
  return false;
}
