/** A run as the store keeps it and as operators see it. */

import { randomBytes } from "node:crypto";
import type { IngestRun, IngestRunSummary, RunReport as RunReportRecord } from "@netfacts/contracts";
import { timestamp } from "@netfacts/contracts";
import type { RunRecord } from "@netfacts/storage";
import type { ProgressEvent } from "../pipeline/progress.ts";
import type { RunReport } from "../pipeline/run-report.ts";

/** What the store keeps as the report of a run. */
export interface KeptReport extends Partial<RunReport> {
  readonly started_by?: string;
  /** Of a rollback: the snapshot that was to be replaced. */
  readonly replaces?: string;
}

/** Sorts by time; unique among processes. */
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

/** @param progress  what the run is doing; null: it is not in progress here. */
export function runRecord(run: RunRecord, progress: ProgressEvent | null = null): IngestRun {
  const report = reportOf(run);
  return {
    ...runSummary(run),
    progress: progress && { stage: progress.label, done: progress.done, total: progress.total, unit: progress.unit },
    // A program of another version may have kept more or less; its members go out as they are.
    report: report as RunReportRecord | null,
  };
}

/** Null while the run has told nothing. */
export function reportOf({ report }: RunRecord): RunReport | null {
  const { started_by: _by, replaces: _replaces, ...rest } = (report ?? {}) as KeptReport;
  return rest.sources === undefined ? null : (rest as RunReport);
}
