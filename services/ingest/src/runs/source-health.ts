/** How each configured source fares: out of the reports of the last runs. */

import type { IngestSource } from "@netfacts/contracts";
import type { RunRecord } from "@netfacts/storage";
import type { SourceReport } from "../pipeline/run-report.ts";
import type { SourceConfig } from "../sources/index.ts";
import { reportOf, timestamp } from "./run-record.ts";

interface Seen {
  readonly run: RunRecord;
  readonly report: SourceReport;
}

/**
 * @param runs  the latest started first.
 * @param now   Unix ms.
 */
export function sourceHealth(sources: readonly SourceConfig[], runs: readonly RunRecord[], now: number): IngestSource[] {
  return sources.map((source) => {
    const seen = runs.flatMap((run) => {
      const report = reportOf(run)?.sources.find(({ name }) => name === source.name);
      return report === undefined ? [] : [{ run, report }];
    });
    return sourceRecord(source, seen, now);
  });
}

function sourceRecord(source: SourceConfig, seen: readonly Seen[], now: number): IngestSource {
  const [last] = seen;
  const good = seen.find(({ report }) => report.state === "read");
  const asOf = good?.report.as_of ?? null;
  const { staleAfterSeconds } = source;
  return {
    name: source.name,
    section: source.section,
    format: source.format,
    location: source.location,
    required: source.required,
    state: last?.report.state ?? "unknown",
    error: last?.report.error ?? null,
    as_of: asOf,
    accepted: good?.report.accepted ?? null,
    skipped: good === undefined ? null : good.report.read - good.report.accepted,
    read_at: good?.run.endedAt == null ? null : timestamp(good.run.endedAt),
    stale: asOf === null || staleAfterSeconds === null ? null : Date.parse(asOf) + staleAfterSeconds * 1_000 < now,
    interval_seconds: source.intervalSeconds,
    stale_after_seconds: staleAfterSeconds,
    run: last?.run.id ?? null,
  };
}
