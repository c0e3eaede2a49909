/** Requests of a caller over HTTP, and waits for conditions. */

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

/**
 * Calls `wanted` every few ms until it is true. The limit only ends a hanging test.
 *
 * @param everyMs  longer where each call makes several processes work, and a wait takes seconds.
 * @returns ms since the call, or since `since`.
 */
export async function until(
  wanted: () => Promise<boolean> | boolean,
  { timeoutMs = 120_000, everyMs = 10, since = performance.now() } = {},
): Promise<number> {
  for (;;) {
    if (await wanted()) return performance.now() - since;
    if (performance.now() - since > timeoutMs) throw new Error(`not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** The median; of an even number of times, the lower one. */
export function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor((times.length - 1) / 2)] ?? Number.NaN;
}
