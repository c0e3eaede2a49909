/** Ingest runs with their reports. */

export type RunState = "running" | "succeeded" | "failed";

/** The latest started so many are kept: months of a schedule that looks for VRPs every few minutes would be all else that a store holds. */
export const runsKept = 1_000;

/** Times are Unix milliseconds. */
export interface RunRecord {
  readonly id: string;
  readonly startedAt: number;
  /** Null while it runs, and for ever when its process died. */
  readonly endedAt: number | null;
  readonly state: RunState;
  /** Whatever ingest reports, as JSON; only `error` where the report that the store has is damaged. */
  readonly report: unknown;
}

export interface RunRepository {
  /** Inserts the run, or replaces the one of this id. One that has ended takes the place of the oldest beyond `runsKept`. */
  save(run: RunRecord): Promise<void>;
  find(id: string): Promise<RunRecord | null>;
  /** The latest started first. */
  list(limit: number): Promise<RunRecord[]>;
}

/** The report of a run, from the text that a store keeps. A damaged one must not hide the other runs, nor keep a new leader from cleaning up. */
export function reportFrom(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { error: "the report of this run is damaged in the store" };
  }
}
