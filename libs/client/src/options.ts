/** Options of a client, and their defaults. */

export interface RetryOptions {
  /** Maximum number of tries of a request; 1 disables retries. Default: 4. */
  readonly attemptsMax?: number;
  /** Longest wait before a retry, in seconds. If the server asks for more, the problem is thrown at once. Default: 60. */
  readonly waitSecondsMax?: number;
}

export interface ClientOptions {
  /** URL of the server: `https://netfacts.example.net`. A path is kept. */
  readonly url: string;
  /** The API key. Without one, only routes that need no key work. */
  readonly key?: string;
  readonly retry?: RetryOptions;
  /** Time limit of one try, to the end of its response, in milliseconds; for a batch, between two pieces of it. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface Settings {
  readonly base: string;
  readonly key: string | null;
  readonly attemptsMax: number;
  readonly waitMsMax: number;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch;
}

/** A timer with more milliseconds would fire at once. 24 days mean for ever here. */
const timerMsMax = 2 ** 31 - 1;
/** Added to a wait that the server asked for, so that clients do not return at the same time. */
export const spreadMsMax = 1_000;

/** Throws `TypeError` for an invalid option. */
export function settingsOf({ url, key, retry = {}, timeoutMs = 30_000, fetch = globalThis.fetch }: ClientOptions): Settings {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) throw new TypeError(`url must be an http or https URL, not "${url}"`);
  if (key !== undefined && !/^[!-~]+$/.test(key)) throw new TypeError("key must be printable ASCII without spaces");
  const { attemptsMax = 4, waitSecondsMax = 60 } = retry;
  if (!Number.isInteger(attemptsMax) || attemptsMax < 1) throw new TypeError("retry.attemptsMax must be an integer of at least 1");
  if (!(waitSecondsMax >= 0)) throw new TypeError("retry.waitSecondsMax must be a number of at least 0");
  if (!(timeoutMs > 0)) throw new TypeError("timeoutMs must be a number greater than 0");
  const base = url.replace(/\/+$/, "");
  // A browser's fetch wants to be called on its window.
  return {
    base,
    key: key ?? null,
    attemptsMax,
    waitMsMax: Math.min(waitSecondsMax * 1_000, timerMsMax - spreadMsMax),
    timeoutMs: Math.min(timeoutMs, timerMsMax),
    fetch: (input, init) => fetch(input, init),
  };
}
