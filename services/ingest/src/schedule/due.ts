/** The time of the next check of a source. */

/** Random share of the interval, at most five minutes, by which checks move: clients that began together then drift apart. */
const jitterShare = 0.05;
const jitterMsMax = 300_000;
/** Delay after the first failure. Each further failure doubles it, up to the interval. */
const firstRetryMs = 60_000;
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

/**
 * @param askedMs  the server's `Retry-After`; null: none
 *
 * @returns ms until the next check, after so many failures in a row
 */
export function afterFailure({ intervalSeconds, fetch }: Timed, failures: number, askedMs: number | null, random: () => number): number {
  const interval = intervalSeconds * 1_000;
  if (fetch === undefined) return Math.min(interval, fileIntervalMs);
  const backoff = Math.min(interval, firstRetryMs * 2 ** Math.min(failures - 1, 20));
  return Math.max(askedMs ?? 0, Math.round(backoff * (0.5 + random() / 2)));
}
