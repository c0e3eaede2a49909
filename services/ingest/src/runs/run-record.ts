/** A run as it is stored, and as operators see it. */

import { randomBytes } from "node:crypto";
import type { IngestRun, IngestRunSummary, RunReport as RunReportRecord } from "@netfacts/contracts";
import { timestamp } from "@netfacts/contracts";
import type { RunRecord } from "@netfacts/storage";
import type { ProgressEvent } from "../pipeline/progress.ts";
import type { RunReport } from "../pipeline/run-report.ts";

/** The report of a run as it is stored. */
export interface KeptReport extends Partial<RunReport> {
  readonly started_by?: string;
  /** For a rollback: the snapshot that was to be replaced. */
  readonly replaces?: string;
}

/** Ids sort by time, and are unique across processes. */
export function newRunId(now: number): string {
  return `${timestamp(now).replace(/[-:]/g, "")}-${randomBytes(3).toString("hex")}`;
}

export function runSummary({ id, state, startedAt, endedAt, report }: RunRecord): IngestRunSummary {
  const { started_by: startedBy, snapshot, replaces, error } = (report ?? {}) as KeptReport;
  return {
    id,
    state,
    started_at: timestamp(startedAt),
    ended_at: endedAt === null ? null : timestamp(endedAt),
    started_by: startedBy ?? null,
    snapshot: snapshot ?? null,
    replaces: replaces ?? null,
    error: error ?? null,
  };
}

/** @param progress  of the run; null: it is not in progress in this process */
export function runRecord(run: RunRecord, progress: ProgressEvent | null = null): IngestRun {
  const report = reportOf(run);
  return {
    ...runSummary(run),
    progress: progress && { stage: progress.label, done: progress.done, total: progress.total, unit: progress.unit },
    // A program of another version may have stored more or fewer members; they are returned as they are.
    report: report as RunReportRecord | null,
  };
}

/** Null until the run has a report. */
export function reportOf({ report }: RunRecord): RunReport | null {
  const { started_by: _by, replaces: _replaces, ...rest } = (report ?? {}) as KeptReport;
  return rest.sources === undefined ? null : (rest as RunReport);
}
