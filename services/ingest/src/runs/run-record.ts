/** A run as the store keeps it and as operators see it. */

import { randomBytes } from "node:crypto";
import type { IngestRun, IngestRunSummary, RunReport as RunReportRecord } from "@netfacts/contracts";
import { timestamp } from "@netfacts/contracts";
import type { RunRecord } from "@netfacts/storage";
import type { RunReport } from "../pipeline/run-report.ts";

/** What the store keeps as the report of a run of the service. Runs of the command line keep a `RunReport` alone. */
export interface KeptReport extends Partial<RunReport> {
  readonly started_by?: string;
}

/** Sorts by time; unique among processes. */
export function newRunId(now: number): string {
  return `${timestamp(now).replace(/[-:]/g, "")}-${randomBytes(3).toString("hex")}`;
}

export function runSummary({ id, state, startedAt, endedAt, report }: RunRecord): IngestRunSummary {
  const { started_by: startedBy, snapshot, error } = (report ?? {}) as KeptReport;
  return {
    id,
    state,
    started_at: timestamp(startedAt),
    ended_at: endedAt === null ? null : timestamp(endedAt),
    started_by: startedBy ?? null,
    snapshot: snapshot ?? null,
    error: error ?? null,
  };
}

export function runRecord(run: RunRecord): IngestRun {
  const report = reportOf(run);
  // A program of another version may have kept more or less; its members go out as they are.
  return { ...runSummary(run), report: report as RunReportRecord | null };
}

/** Null while the run has told nothing. */
export function reportOf({ report }: RunRecord): RunReport | null {
  const { started_by: _, ...rest } = (report ?? {}) as KeptReport;
  return rest.sources === undefined ? null : (rest as RunReport);
}
