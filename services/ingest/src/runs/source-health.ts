/** The state of each configured source, from the reports of the last runs, the snapshot in service and the leader's schedule. */

import type { IngestSource, SourceSchedule } from "@netfacts/contracts";
import { timestamp } from "@netfacts/contracts";
import type { Manifest } from "@netfacts/snapshot";
import type { RunRecord } from "@netfacts/storage";
import type { SourceReport } from "../pipeline/run-report.ts";
import { type SourceConfig, sectionOf } from "../sources/index.ts";
import { reportOf } from "./run-record.ts";

interface Seen {
  readonly run: RunRecord;
  readonly report: SourceReport;
  /** Why the run refused the section: what it had lost. Null: it did not. */
  readonly refused: string | null;
}

export interface KnownOfSources {
  /** Latest start first. */
  readonly runs: readonly RunRecord[];
  /** The snapshot in service: it covers sources that no kept run read. */
  readonly manifest: Pick<Manifest, "sections"> | null;
  /** By source; null if this process does not know. */
  readonly schedule: ReadonlyMap<string, SourceSchedule> | null;
}

/** @param now Unix ms. */
export function sourceHealth(sources: readonly SourceConfig[], known: KnownOfSources, now: number): IngestSource[] {
  // A run that starts in the future was started before the clock was set back: it would count as the last run until that time.
  const runs = known.runs.filter(({ startedAt }) => startedAt <= now);
  return sources.map((source) => {
    const seen = runs.flatMap((run) => {
      const told = reportOf(run);
      const report = told?.sources.find(({ name }) => name === source.name);
      const refused = told?.sections.find(({ name }) => name === sectionOf(source))?.refused ?? null;
      return report === undefined ? [] : [{ run, report, refused }];
    });
    const schedule = known.schedule?.get(source.name) ?? null;
    return { ...sourceRecord(source, seen, known.manifest, schedule, now), schedule };
  });
}

function sourceRecord(
  source: SourceConfig,
  seen: readonly Seen[],
  manifest: KnownOfSources["manifest"],
  schedule: SourceSchedule | null,
  now: number,
): Omit<IngestSource, "schedule"> {
  const [last] = seen;
  const good = seen.find(({ report, refused }) => report.state !== "failed" && refused === null);
  const entry = manifest?.sections[sectionOf(source)]?.sources.find(({ name, sha256 }) => name === source.name && sha256 !== "");
  const asOf = good?.report.as_of ?? entry?.as_of ?? null;
  const { staleAfterSeconds } = source;
  return {
    name: source.name,
    section: source.section,
    format: source.format,
    location: source.location,
    required: source.required,
    ...stateOf(last, schedule, manifest === null ? good !== undefined : entry !== undefined),
    as_of: asOf,
    accepted: good?.report.accepted ?? entry?.accepted ?? null,
    skipped: good === undefined ? (entry?.skipped ?? null) : good.report.read - good.report.accepted,
    read_at: good?.run.endedAt == null ? null : timestamp(good.run.endedAt),
    stale: asOf === null || staleAfterSeconds === null ? null : Date.parse(asOf) + staleAfterSeconds * 1_000 < now,
    interval_seconds: source.intervalSeconds,
    stale_after_seconds: staleAfterSeconds,
    run: last?.run.id ?? null,
  };
}

/** The last finding, of a run or of a later check. @param isInUse  whether the snapshot has data of the source */
function stateOf(last: Seen | undefined, schedule: SourceSchedule | null, isInUse: boolean): Pick<IngestSource, "state" | "error"> {
  const isOver = isInUse && schedule?.checked_at != null && Date.parse(schedule.checked_at) > (last?.run.endedAt ?? 0);
  const ofRun = isOver ? null : (last?.report.error ?? null);
  // A check does not end this; the next run that reads the source does.
  const ofSection = last?.refused == null ? null : `the new section ${last.refused}; the previous one is in use`;
  const error = schedule?.error ?? schedule?.refused ?? ofRun ?? ofSection;
  if (error !== null) return { state: isInUse ? "kept" : "failed", error };
  return { state: isInUse || last !== undefined ? "read" : "unknown", error: null };
}
