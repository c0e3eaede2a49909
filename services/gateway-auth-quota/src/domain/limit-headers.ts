/** Rate and quota headers (API, "Keys and limits"). */

import { headers as names } from "@netfacts/contracts";

export interface LimitHeaderInput {
  readonly limit: number;
  /** Null: unknown, because the store is unavailable and the window was never read; the headers then leave it out. */
  readonly remaining: number | null;
  readonly resetsInSeconds: number | null;
}

/**
 * `RateLimit-Policy` and `RateLimit` for all limits, `X-RateLimit-*` for the rate, `X-Quota-*` for the month. Concurrency has no window: its
 * policy names its unit instead (draft-ietf-httpapi-ratelimit-headers, "qu"), and its state has no reset time.
 */
export function limitHeaders(
  rate: LimitHeaderInput,
  rateWindowSeconds: number,
  month: LimitHeaderInput,
  concurrency: { readonly limit: number; readonly remaining: number } | null,
): Record<string, string> {
  const headers: Record<string, string> = {
    [names.rateLimitPolicy]: `"rate";q=${rate.limit};w=${rateWindowSeconds}, "month";q=${month.limit}`,
    [names.rateLimitLimit]: `${rate.limit}`,
    [names.quotaLimit]: `${month.limit}`,
  };
  const states: string[] = [];
  if (rate.remaining !== null && rate.resetsInSeconds !== null) {
    states.push(`"rate";r=${rate.remaining};t=${rate.resetsInSeconds}`);
    headers[names.rateLimitRemaining] = `${rate.remaining}`;
    headers[names.rateLimitReset] = `${rate.resetsInSeconds}`;
  }
  if (month.remaining !== null && month.resetsInSeconds !== null) {
    states.push(`"month";r=${month.remaining};t=${month.resetsInSeconds}`);
    headers[names.quotaRemaining] = `${month.remaining}`;
    headers[names.quotaReset] = `${month.resetsInSeconds}`;
  }
  if (concurrency !== null) {
    headers[names.rateLimitPolicy] += `, "concurrency";q=${concurrency.limit};qu="concurrent-requests"`;
    states.push(`"concurrency";r=${concurrency.remaining}`);
  }
  if (states.length > 0) headers[names.rateLimit] = states.join(", ");
  return headers;
}
