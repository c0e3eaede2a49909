/** What a client can be told, and what it does when it is not. */

export interface RetryOptions {
  /** Times that a question is asked in all; 1: never again. Default: 4. */
  readonly attemptsMax?: number;
  /** The longest wait before the next try, in seconds; where more is asked for, the problem is thrown at once. Default: 60. */
  readonly waitSecondsMax?: number;
}

export interface ClientOptions {
  /** Where the installation is: `https://netfacts.example.net`; a path is kept. */
  readonly url: string;
  /** The API key. Without one only what is open can be asked. */
  readonly key?: string;
  readonly retry?: RetryOptions;
  /** Time for one try, to the end of its answer, in milliseconds; of a batch, between two pieces of it. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Default: the global one. */
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

/** A timer of more milliseconds ends at once. 24 days stand for ever here. */
const timerMsMax = 2 ** 31 - 1;
/** What is added to a wait that was told, so that clients do not come back in step. */
export const spreadMsMax = 1_000;

/** Throws `TypeError` for what cannot be meant. */
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
