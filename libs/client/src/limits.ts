/** What the headers of an answer say of the key's limits. */

export interface LimitState {
  /** Units in a window. */
  readonly limit: number;
  /** Units left; null: not told. */
  readonly remaining: number | null;
  /** Seconds until the window ends; null: not told. */
  readonly resetSeconds: number | null;
}

export interface Limits {
  /** Requests in a short window. */
  readonly rate: LimitState;
  /** Questions in the calendar month (UTC). */
  readonly month: LimitState;
}

/** Null where the answer tells none, as those to unknown keys. In a browser the server must expose the headers. */
export function limitsOf(headers: Headers): Limits | null {
  const rate = stateOf(headers, "x-ratelimit");
  const month = stateOf(headers, "x-quota");
  return rate === null || month === null ? null : { rate, month };
}

function stateOf(headers: Headers, name: string): LimitState | null {
  const limit = numberOf(headers.get(`${name}-limit`));
  if (limit === null) return null;
  return { limit, remaining: numberOf(headers.get(`${name}-remaining`)), resetSeconds: numberOf(headers.get(`${name}-reset`)) };
}

/** A whole number from 0; null: absent, or something else. */
export function numberOf(text: string | null): number | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
