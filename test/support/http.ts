/** Requests of a caller over HTTP, and waits for conditions. */

import { setTimeout as sleep } from "node:timers/promises";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON. Throws if it is not JSON. */
  readonly json: ReturnType<typeof JSON.parse>;
}

export interface RequestOptions {
  readonly key?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export async function request(url: string, { key, method = "GET", headers = {}, body }: RequestOptions = {}): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text);
    },
  };
}

/** Part of the time waited so far that passes until the next look: what takes long is looked at less often, and is seen at most so much later. */
const pausePart = 1 / 10;
const pauseMsMin = 10;

/**
 * Calls `wanted` until it is true, at first every few ms, after a second ten times a second. The limit only ends a hanging test.
 *
 * @param pauseMsMax  10 if each look changes something, or if a state that does not last must be seen.
 * @returns ms since the call, or since `since`.
 */
export async function until(
  wanted: () => Promise<boolean> | boolean,
  { timeoutMs = 120_000, since = performance.now(), pauseMsMax = 100 } = {},
): Promise<number> {
  const begun = performance.now();
  for (;;) {
    if (await wanted()) return performance.now() - since;
    if (performance.now() - since > timeoutMs) throw new Error(`not within ${timeoutMs} ms`);
    const waitedMs = performance.now() - begun;
    await sleep(Math.min(Math.max(pauseMsMin, waitedMs * pausePart), pauseMsMax));
  }
}

/** The median; of an even number of times, the lower one. */
export function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor((times.length - 1) / 2)] ?? Number.NaN;
}
