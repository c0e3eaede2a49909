/** The server's clock, from the `Date` of its responses (RFC 9110 section 6.6.1): the clock of a browser may be wrong. */

/** The server's time when `performance.now()` was 0; null: no response has told it. */
let startMs: number | null = null;

/** Call with the `Date` of each response; null: it has none. */
export function hearDate(date: string | null): void {
  const heardMs = Date.parse(date ?? "") - performance.now();
  // A response that was delayed, or kept by a cache, has an older time.
  if (!Number.isNaN(heardMs)) startMs = Math.max(startMs ?? heardMs, heardMs);
}

/** The server's time in ms since 1970, at most some seconds late; the browser's time before the first response. */
export function serverNowMs(): number {
  return startMs === null ? Date.now() : startMs + performance.now();
}
