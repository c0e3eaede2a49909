/** The time of the next check of a source. */

/** Random share of the interval, at most five minutes, by which checks move: clients that began together then drift apart. */
const jitterShare = 0.05;
const jitterMsMax = 300_000;
/** Delay after the first failure. Each further failure doubles it, up to the interval. */
const firstRetryMs = 60_000;
/** Longest pause that a server may ask for, unless the interval is longer: a wrong date must not stop a source for years. */
const pauseMsMax = 86_400_000;
/** Longest interval of a local file: to look at it costs nothing. Its own interval says when a new version is expected. */
const fileIntervalMs = 60_000;

interface Timed {
  readonly intervalSeconds: number;
  /** Absent for a file. */
  readonly fetch?: unknown;
}

/** @returns ms from a successful check to the next one */
export function afterSuccess({ intervalSeconds, fetch }: Timed, random: () => number): number {
  const interval = intervalSeconds * 1_000;
  if (fetch === undefined) return Math.min(interval, fileIntervalMs);
  return Math.round(interval + (2 * random() - 1) * Math.min(interval * jitterShare, jitterMsMax));
}

/** @param askedMs  the server's `Retry-After`; null: none @returns ms for which the source is not checked, whatever else its schedule says */
export function pauseMs({ intervalSeconds }: Timed, askedMs: number | null): number {
  return Math.min(askedMs ?? 0, Math.max(intervalSeconds * 1_000, pauseMsMax));
}

/**
 * @param pause  as `pauseMs` says
 *
 * @returns ms until the next check, after so many failures in a row
 */
export function afterFailure({ intervalSeconds, fetch }: Timed, failures: number, pause: number, random: () => number): number {
  const interval = intervalSeconds * 1_000;
  if (fetch === undefined) return Math.min(interval, fileIntervalMs);
  const backoff = Math.min(interval, firstRetryMs * 2 ** Math.min(failures - 1, 20));
  return Math.max(pause, Math.round(backoff * (0.5 + random() / 2)));
}
