/** When a source is asked for again. */

/** Clients that began together drift apart by so much of an interval, at most by five minutes. */
const jitterShare = 0.05;
const jitterMsMax = 300_000;
/** After a failure; doubled by each further one, up to the interval. */
const firstRetryMs = 60_000;
/** A file costs nothing to look at, whatever its interval says of when to expect the next one. */
const fileIntervalMs = 60_000;

interface Timed {
  readonly intervalSeconds: number;
  /** Absent for a file. */
  readonly fetch?: unknown;
}

/** ms until the next check after one that went well. */
export function afterSuccess({ intervalSeconds, fetch }: Timed, random: () => number): number {
  const interval = intervalSeconds * 1_000;
  if (fetch === undefined) return Math.min(interval, fileIntervalMs);
  return Math.round(interval + (2 * random() - 1) * Math.min(interval * jitterShare, jitterMsMax));
}

/** ms until the next check after so many failures in a row. @param askedMs  what the server asked for; null: nothing */
export function afterFailure({ intervalSeconds, fetch }: Timed, failures: number, askedMs: number | null, random: () => number): number {
  const interval = intervalSeconds * 1_000;
  if (fetch === undefined) return Math.min(interval, fileIntervalMs);
  const backoff = Math.min(interval, firstRetryMs * 2 ** Math.min(failures - 1, 20));
  return Math.max(askedMs ?? 0, Math.round(backoff * (0.5 + random() / 2)));
}
