/** The records of ingest's operator API: runs with their reports, and the health of the configured sources. */

import Type, { type Static } from "typebox";
import { Count, member, NullableCount, NullableText, NullableTimestamp, nullable, oneOf, record, Timestamp } from "../schema.ts";

/** One kind of record that a source's reader left out. */
const SkippedRecords = record({
  reason: member(Type.String(), "Why they were left out."),
  bad: member(Type.Boolean(), "Whether they broke a rule of the format; otherwise they were left out on purpose."),
  count: member(Count, "How many."),
  examples: member(
    Type.Array(
      record({
        line: Type.Optional(member(Count, "Line of the file; absent where it has none.")),
        offset: Type.Optional(member(Count, "Byte of the file; absent where lines are counted.")),
        text: member(Type.String(), "The record, or its beginning."),
      }),
    ),
    "The first few of them.",
  ),
});

/** What updates did to their table. */
const UpdateCounts = record({
  files: member(Count, "Files that were applied."),
  messages: member(Count, "BGP messages in them."),
  announced: member(Count, "Routes that they announced."),
  withdrawn: member(Count, "Routes that they withdrew."),
  state_changes: member(Count, "Changes of a session's state."),
  sessions_lost: member(Count, "Sessions that left Established."),
  routes_lost: member(Count, "Routes that went with these sessions."),
  gaps: member(
    Type.Array(
      record({
        from: member(Timestamp, "The last moment before the gap."),
        to: member(NullableTimestamp, "The first moment after it; null: all after `from` is missing."),
      }),
    ),
    "Times of which updates are missing.",
  ),
  refused_file: member(NullableText, "The file that could not be trusted: it and all behind it were left out; null: none."),
});

const listedSource = {
  name: member(Type.String(), "Name in the list of sources."),
  section: member(Type.String(), "The section that it is for; `updates` are for `routes`."),
  format: member(Type.String(), "What its files are read as."),
};

export const RunSource = record({
  ...listedSource,
  file: member(Type.String(), "The file that was read."),
  url: member(NullableText, "Where the file was fetched from, without credentials; null for a file of the operator's."),
  fetched_at: member(NullableTimestamp, "When it was fetched; null for a file of the operator's."),
  state: member(
    oneOf(["read", "kept", "failed"]),
    "How it went; `kept`: its newest version could not be used (see `error`), and the one before was read.",
  ),
  read: member(Count, "Records in the file."),
  accepted: member(Count, "Records that were taken over."),
  skipped: member(Type.Array(SkippedRecords), "Records that were left out, by reason."),
  bytes: member(Count, "Bytes of its text, unpacked."),
  stored_bytes: member(Count, "Bytes of the file as it is stored."),
  seconds: member(Type.Number({ minimum: 0 }), "Seconds that reading took."),
  as_of: member(NullableTimestamp, "The moment that its data are of; null where they do not tell, or were not read."),
  sha256: member(NullableText, "SHA-256 of the file, in hexadecimal; null where it was not read."),
  notes: member(Type.Array(Type.String()), "What an operator should know of it; empty: nothing."),
  error: member(NullableText, "Why it, or its newest version, could not be used; null where it could."),
  updates: Type.Optional(member(UpdateCounts, "What its updates did; only of a source of updates.")),
});
export type RunSource = Static<typeof RunSource>;

/** What one run is told; all of it may be left out. */
export const RunRequest = record({
  accept_shrink: Type.Optional(
    member(
      Type.Array(oneOf(["routes", "vrps", "aspas", "allocations", "as_names", "profiles", "network_types"]), { uniqueItems: true }),
      "Sections that may lose more than `shrink_max` and `section_shrink_max` allow, this time.",
    ),
  ),
});
export type RunRequest = Static<typeof RunRequest>;

const publishedSnapshot = "The snapshot that was published, or was there already with the same content; null where none was.";

/** What a run tells at its end, or when it failed: how far it came. */
export const RunReport = record({
  snapshot: member(NullableText, publishedSnapshot),
  unchanged: member(Type.Boolean(), "Whether that snapshot was there already, with the same content."),
  sample_data: member(Type.Boolean(), "Whether it is made of the sample dataset."),
  sources: member(Type.Array(RunSource), "Each source, in the order of the list."),
  sections: member(
    Type.Array(
      record({
        name: member(Type.String(), "Name of the section."),
        version: member(Type.String(), "Its version, as answers tell it."),
        kept: member(Type.Boolean(), "Whether it was taken over from the snapshot before."),
        refused: member(NullableText, "What it had lost, where it shrank too much and the last one was kept; else null."),
        checked: member(
          Count,
          "Records of its sources that the snapshot was asked for before it was published; 0 for one that was taken over.",
        ),
        counts: member(Type.Record(Type.String(), Count), "Records by kind, such as `ipv4` and `ipv6`."),
        notes: Type.Optional(member(Type.Array(Type.String()), "What an operator should know of how it was built; absent: nothing.")),
      }),
    ),
    "Each section of the snapshot.",
  ),
  stages: member(
    record({
      read: member(Type.Number(), "Fetching and reading the sources."),
      build: member(Type.Number(), "Making the sections."),
      verify: member(Type.Number(), "Checking them."),
      publish: member(Type.Number(), "Putting them into the store."),
    }),
    "How long each stage took, in seconds.",
  ),
  peak_rss_bytes: member(Count, "The most memory that the run's process held, in bytes."),
  error: member(NullableText, "Why the run failed; null where it did not."),
});
export type RunReport = Static<typeof RunReport>;

const summaryMembers = {
  id: member(Type.String(), "Id of the run."),
  state: member(oneOf(["running", "succeeded", "failed"]), "How it stands."),
  started_at: member(Timestamp, "When it began."),
  ended_at: member(NullableTimestamp, "When it ended; null while it runs."),
  started_by: member(
    NullableText,
    "`key:<id>` of the operator's key, `start` for the first import of an installation, `schedule`; null where it is not known.",
  ),
  snapshot: member(NullableText, publishedSnapshot),
  error: member(NullableText, "Why it failed; null where it did not."),
};

/** A run in a list. */
export const IngestRunSummary = record(summaryMembers);
export type IngestRunSummary = Static<typeof IngestRunSummary>;

export const IngestRun = record({
  ...summaryMembers,
  report: member(nullable(RunReport), "What was read, left out and made; null while it runs, and where its process died."),
});
export type IngestRun = Static<typeof IngestRun>;

export const IngestRuns = record({ items: member(Type.Array(IngestRunSummary), "Runs, the one that started last first.") });
export type IngestRuns = Static<typeof IngestRuns>;

/** When a source is asked for, and how that went. */
export const SourceSchedule = record({
  checked_at: member(NullableTimestamp, "When it was last asked for, with whatever outcome; null: never."),
  succeeded_at: member(NullableTimestamp, "When its newest version was last known to be here; null: never."),
  next_check_at: member(
    NullableTimestamp,
    "When it is asked for next; in the past: as soon as a process follows the list. Null where that is not planned.",
  ),
  failures: member(Count, "Checks that failed since the last that did not."),
  error: member(NullableText, "Why the last check failed; null where it did not."),
  refused: member(NullableText, "Why a run could not use the version that came last; null where it could."),
  url: member(NullableText, "Where the version that is here was fetched from, without credentials; null for a file of the operator's."),
  fetched_at: member(NullableTimestamp, "When that was; null for a file of the operator's."),
  sha256: member(NullableText, "SHA-256 of that version, in hexadecimal; null where none is here."),
});
export type SourceSchedule = Static<typeof SourceSchedule>;

export const IngestSource = record({
  ...listedSource,
  location: member(Type.String(), "Path or URL, as the list has it."),
  required: member(Type.Boolean(), "Whether a run fails without it."),
  state: member(oneOf(["read", "kept", "failed", "unknown"]), "How the last run that came to it found it; `unknown`: no kept run did."),
  error: member(NullableText, "Why that run could not use it, or its newest version; null where it could."),
  as_of: member(NullableTimestamp, "The moment that its last good version is of; null where none is known."),
  accepted: member(NullableCount, "Records of that version that were taken over; null where none is known."),
  skipped: member(NullableCount, "Records of that version that were left out; null where none is known."),
  read_at: member(NullableTimestamp, "When that version was read; null where none is known."),
  stale: member(nullable(Type.Boolean()), "Whether that version is too old; null where none is known, or where it never grows stale."),
  interval_seconds: member(Count, "Seconds between new versions, as the list has it."),
  stale_after_seconds: member(NullableCount, "Age in seconds at which it is stale; null: never."),
  run: member(NullableText, "Id of the run that `state` is of; null where there is none."),
  schedule: member(nullable(SourceSchedule), "When it is asked for, and how that went; null while no process leads."),
});
export type IngestSource = Static<typeof IngestSource>;

export const IngestSources = record({
  items: member(Type.Array(IngestSource), "The sources, in the order of their list."),
  faults: member(Type.Array(Type.String()), "Faults of the list itself, each with its line; `items` is empty then."),
});
export type IngestSources = Static<typeof IngestSources>;
