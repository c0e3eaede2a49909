/** The records of ingest's operator API: runs with their reports, and the health of the configured sources. */

import Type, { type Static } from "typebox";
import { Count, NullableCount, NullableText, NullableTimestamp, nullable, oneOf, record, Timestamp } from "../schema.ts";

/** One kind of record that a source's reader left out. */
const SkippedRecords = record({
  reason: Type.String(),
  /** It broke a rule of the format; otherwise it was left out on purpose. */
  bad: Type.Boolean(),
  count: Count,
  /** The first few, with line or byte. */
  examples: Type.Array(record({ line: Type.Optional(Count), offset: Type.Optional(Count), text: Type.String() })),
});

export const RunSource = record({
  name: Type.String(),
  section: Type.String(),
  format: Type.String(),
  file: Type.String(),
  /** Where the file was fetched from, without credentials, and when; null for a file. */
  url: NullableText,
  fetched_at: NullableTimestamp,
  /** `kept`: its newest version could not be used (see `error`), and the one before was read. */
  state: oneOf(["read", "kept", "failed"]),
  read: Count,
  accepted: Count,
  skipped: Type.Array(SkippedRecords),
  bytes: Count,
  stored_bytes: Count,
  seconds: Type.Number({ minimum: 0 }),
  as_of: NullableTimestamp,
  sha256: NullableText,
  notes: Type.Array(Type.String()),
  error: NullableText,
});
export type RunSource = Static<typeof RunSource>;

/** What a run tells at its end, or when it failed: how far it came. */
export const RunReport = record({
  /** The snapshot that was published, or was there already with the same content; null when none was. */
  snapshot: NullableText,
  unchanged: Type.Boolean(),
  sample_data: Type.Boolean(),
  sources: Type.Array(RunSource),
  sections: Type.Array(
    record({ name: Type.String(), version: Type.String(), kept: Type.Boolean(), counts: Type.Record(Type.String(), Count) }),
  ),
  /** Seconds. */
  stages: record({ read: Type.Number(), build: Type.Number(), verify: Type.Number(), publish: Type.Number() }),
  peak_rss_bytes: Count,
  error: NullableText,
});
export type RunReport = Static<typeof RunReport>;

const summaryMembers = {
  id: Type.String(),
  state: oneOf(["running", "succeeded", "failed"]),
  started_at: Timestamp,
  ended_at: NullableTimestamp,
  /** `key:<id>` of the operator's key, `start` for the first import of an installation, `schedule`; null where it is not known. */
  started_by: NullableText,
  snapshot: NullableText,
  error: NullableText,
};

/** A run in a list. */
export const IngestRunSummary = record(summaryMembers);
export type IngestRunSummary = Static<typeof IngestRunSummary>;

/** A run with its report, which is null while it runs and when its process died. */
export const IngestRun = record({ ...summaryMembers, report: nullable(RunReport) });
export type IngestRun = Static<typeof IngestRun>;

/** The latest started first. */
export const IngestRuns = record({ items: Type.Array(IngestRunSummary) });
export type IngestRuns = Static<typeof IngestRuns>;

/** When a source is asked for, and how that went. */
export const SourceSchedule = record({
  /** When it was last asked for, with whatever outcome. */
  checked_at: NullableTimestamp,
  /** When its newest version was last known to be here. */
  succeeded_at: NullableTimestamp,
  next_check_at: NullableTimestamp,
  /** Checks that failed since the last that did not. */
  failures: Count,
  /** Of the last check. */
  error: NullableText,
  /** Why a run could not use the version that came last; null where it could. */
  refused: NullableText,
  /** Of the version that is here: where it was fetched from, without credentials, and when. Null for a file. */
  url: NullableText,
  fetched_at: NullableTimestamp,
  sha256: NullableText,
});
export type SourceSchedule = Static<typeof SourceSchedule>;

export const IngestSource = record({
  name: Type.String(),
  section: Type.String(),
  format: Type.String(),
  location: Type.String(),
  required: Type.Boolean(),
  /** How the last run that came to it found it; `unknown`: no kept run did. */
  state: oneOf(["read", "kept", "failed", "unknown"]),
  error: NullableText,
  /** Of its last good version. */
  as_of: NullableTimestamp,
  accepted: NullableCount,
  skipped: NullableCount,
  read_at: NullableTimestamp,
  /** Null where no good version is known, or where it never grows stale. */
  stale: nullable(Type.Boolean()),
  interval_seconds: Count,
  stale_after_seconds: NullableCount,
  /** The run that `state` is of. */
  run: NullableText,
  /** Null while no process leads. */
  schedule: nullable(SourceSchedule),
});
export type IngestSource = Static<typeof IngestSource>;

/** The sources in the order of their list. */
export const IngestSources = record({
  items: Type.Array(IngestSource),
  /** Faults of the list itself, each with its line; `items` is empty then. */
  faults: Type.Array(Type.String()),
});
export type IngestSources = Static<typeof IngestSources>;
