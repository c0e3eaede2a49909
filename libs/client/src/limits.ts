/** The limits of the key, from the headers of a response. */

export interface LimitState {
  /** Units in a window. */
  readonly limit: number;
  /** Units left; null if unknown. */
  readonly remaining: number | null;
  /** Seconds until the window ends; null if unknown. */
  readonly resetSeconds: number | null;
}

export interface Limits {
  /** Units in a short window: most requests cost one. */
  readonly rate: LimitState;
  /** Successful requests and batch items in the calendar month (UTC). */
  readonly month: LimitState;
  /** Units of the rate that the request cost; null if unknown. */
  readonly cost: number | null;
}

/** Null if the response has none, as for an unknown key. In a browser the server must expose the headers. */
export function limitsOf(headers: Headers): Limits | null {
  const rate = stateOf(headers, "x-ratelimit");
  const month = stateOf(headers, "x-quota");
  return rate === null || month === null ? null : { rate, month, cost: numberOf(headers.get("x-request-cost")) };
}

function stateOf(headers: Headers, name: string): LimitState | null {
  const limit = numberOf(headers.get(`${name}-limit`));
  if (limit === null) return null;
  return { limit, remaining: numberOf(headers.get(`${name}-remaining`)), resetSeconds: numberOf(headers.get(`${name}-reset`)) };
}

/** An integer of at least 0; null if the text is absent or something else. */
export function numberOf(text: string | null): number | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
