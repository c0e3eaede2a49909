/** Runs whose process ended before they did: the store still has them as running. */

import type { RunRecord, Store } from "@netfacts/storage";
import type { KeptReport } from "./run-record.ts";

/** Number of the last runs that are checked, and of those in the future. */
const runsLookedAt = 100;

export interface AbandonedRunsOptions {
  readonly runs: Store["runs"];
  readonly clock: { now(): number };
  /** Default: every run that is running in the store. */
  readonly isAbandoned?: (startedBy: string | null) => boolean;
  /** Awaited before each change; a rejection stops the clean-up. */
  readonly confirm?: () => Promise<void>;
}

/** Marks them as failed. @returns the runs that were marked @throws StoreError, and the errors of `confirm` */
export async function endAbandonedRuns(options: AbandonedRunsOptions): Promise<RunRecord[]> {
  const { runs, clock, isAbandoned = () => true, confirm } = options;
  const ended: RunRecord[] = [];
  const last = await runs.list(runsLookedAt, clock.now());
  // By start alone, those that began while the clock was ahead come first. They are the last ones otherwise, behind all others.
  const latest = (await runs.list(runsLookedAt)).filter(({ id }) => last.every((run) => run.id !== id));
  for (const run of [...last, ...latest]) {
    const report = run.report as KeptReport | null;
    if (run.state !== "running" || !isAbandoned(report?.started_by ?? null)) continue;
    await confirm?.();
    const error =
      "its process ended or lost leadership before the run ended: see its log, or, if it was killed for memory, raise its memory limit";
    await runs.save({ ...run, endedAt: clock.now(), state: "failed", report: { ...report, error } });
    ended.push(run);
  }
  return ended;
}
