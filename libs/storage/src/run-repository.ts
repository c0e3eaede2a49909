/** Ingest runs with their reports. */

export type RunState = "running" | "succeeded" | "failed";

/**
 * Number of runs that are kept. A schedule that looks for VRPs every few minutes would otherwise fill the store within months.
 */
export const runsKept = 1_000;

/** A run that starts later than this after the current time was started before the clock was set back. Clocks of processes differ by less. */
const aheadMs = 3_600_000;

/** The latest start of a run that is not in the future. @param now Unix ms */
export function latestStart(now: number): number {
  return now + aheadMs;
}

/** Times are Unix milliseconds. */
export interface RunRecord {
  readonly id: string;
  readonly startedAt: number;
  /** Null while it runs, and for ever if its process died. */
  readonly endedAt: number | null;
  readonly state: RunState;
  /** The report of ingest, as JSON; only `error` if the report in the store is damaged. */
  readonly report: unknown;
}

export interface RunRepository {
  /** Inserts the run, or replaces the one with this id. When a run has ended, the last runs in the order of `list` beyond `runsKept` are removed. */
  save(run: RunRecord): Promise<void>;
  find(id: string): Promise<RunRecord | null>;
  /** Latest start first; then those in the future: a clock that was wrong once must not hide later runs. @param now Unix ms; default: none is. */
  list(limit: number, now?: number): Promise<RunRecord[]>;
}

/** Reads the report of a run from the text in a store. A damaged report must not hide the other runs, nor keep a new leader from cleaning up. */
export function reportFrom(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { error: "the report of this run is damaged in the store" };
  }
}
