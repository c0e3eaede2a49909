/** The records of ingest's operator API: runs with their reports, and the health of the configured sources. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { bytes, records, seconds } from "../facts/units.ts";
import { Count, member, NullableCount, NullableText, NullableTimestamp, nullable, oneOf, record, Timestamp } from "../schema.ts";
import { importedSections } from "../sections.ts";

/** One kind of record that a source's reader left out. */
const SkippedRecords = record({
  reason: member(Type.String(), "Why the records were skipped."),
  bad: member(Type.Boolean(), "True if the records violate the format; false if they were skipped on purpose."),
  count: member(Count, "Number of records."),
  examples: member(
    Type.Array(
      record({
        line: Type.Optional(member(Count, "Line number in the file; absent if the format has no lines.")),
        offset: Type.Optional(member(Count, "Byte offset in the file; absent if lines are counted.")),
        text: member(Type.String(), "The record, or its beginning."),
      }),
    ),
    "The first few skipped records.",
  ),
});

/** The effects of updates on their table. */
const UpdateCounts = record({
  files: member(Count, "Number of files applied."),
  messages: member(Count, "Number of BGP messages in these files."),
  announced: member(Count, "Number of routes announced."),
  withdrawn: member(Count, "Number of routes withdrawn."),
  state_changes: member(Count, "Number of session state changes."),
  sessions_lost: member(Count, "Number of sessions that left the state Established."),
  routes_lost: member(Count, "Number of routes removed because their session ended."),
  gaps: member(
    Type.Array(
      record({
        from: member(Timestamp, "Last time before the gap."),
        to: member(NullableTimestamp, "First time after the gap; null if everything after `from` is missing."),
      }),
    ),
    "Periods for which updates are missing.",
  ),
  refused_file: member(
    NullableText,
    "File that could not be trusted. This file and all later files were not applied. Null if there is none.",
  ),
});

const listedSource = {
  name: member(Type.String(), "Name in the list of sources."),
  section: member(Type.String(), "Section that the source contributes to; `updates` contribute to `routes`."),
  format: member(Type.String(), "Format of the files."),
};

export const RunSource = record({
  ...listedSource,
  file: member(Type.String(), "File that was read."),
  url: member(NullableText, "URL that the file was fetched from, without credentials; null for a local file."),
  fetched_at: member(NullableTimestamp, "Time at which the file was fetched; null for a local file."),
  state: member(
    oneOf(["read", "kept", "failed"]),
    "Result. `kept`: the newest version could not be used (see `error`), so the previous version was read.",
  ),
  read: member(Count, "Number of records in the file."),
  accepted: member(Count, "Number of records imported."),
  skipped: member(Type.Array(SkippedRecords), "Skipped records, by reason."),
  bytes: member(Count, "Size of the decompressed content in bytes."),
  stored_bytes: member(Count, "Size of the file as stored, in bytes."),
  seconds: member(Type.Number({ minimum: 0 }), "Time spent reading, in seconds."),
  as_of: member(NullableTimestamp, "Time of the data; null if unknown or not read."),
  sha256: member(NullableText, "SHA-256 of the file in hexadecimal; null if the file was not read."),
  notes: member(Type.Array(Type.String()), "Notes for the operator; an empty list if there are none."),
  error: member(NullableText, "Why the source, or its newest version, could not be used; null if it could."),
  updates: Type.Optional(member(UpdateCounts, "Effects of the updates; only for a source of updates.")),
});
export type RunSource = Static<typeof RunSource>;

/** Options of one run. All are optional. */
export const RunRequest = record({
  accept_shrink: Type.Optional(
    member(
      Type.Array(oneOf(importedSections), { uniqueItems: true }),
      "Sections that may shrink by more than `shrink_max` and `section_shrink_max` allow, in this run only.",
    ),
  ),
});
export type RunRequest = Static<typeof RunRequest>;

/** Names both snapshots, so that nobody rolls back what somebody else has published meanwhile. */
export const RollbackRequest = record({
  snapshot: member(Type.String({ minLength: 1, maxLength: 64 }), "Id of the kept snapshot that becomes the current one."),
  replaces: member(Type.String({ minLength: 1, maxLength: 64 }), "Id of the snapshot that is the current one now."),
});
export type RollbackRequest = Static<typeof RollbackRequest>;

const publishedSnapshot = "Snapshot that was published, or that already existed with the same content; null if none.";

/** The report of a run that has ended. For a failed run: how far it came. */
export const RunReport = record({
  snapshot: member(NullableText, publishedSnapshot),
  unchanged: member(Type.Boolean(), "Whether the snapshot already existed with the same content."),
  sample_data: member(Type.Boolean(), "Whether the snapshot contains the sample dataset."),
  sources: member(Type.Array(RunSource), "Sources, in the order of the list."),
  sections: member(
    Type.Array(
      record({
        name: member(Type.String(), "Name of the section."),
        version: member(Type.String(), "Version of the section, as in responses."),
        kept: member(Type.Boolean(), "Whether the section was carried over from the previous snapshot."),
        refused: member(
          NullableText,
          "Records that the section lost, if it shrank too much and the previous version was kept; otherwise null.",
        ),
        checked: member(
          Count,
          "Number of source records that were looked up in the snapshot before it was published; 0 if the section was carried over.",
        ),
        counts: member(Type.Record(Type.String(), Count), "Number of records by kind, such as `ipv4` and `ipv6`."),
        notes: Type.Optional(
          member(Type.Array(Type.String()), "Notes for the operator about how the section was built; absent if there are none."),
        ),
      }),
    ),
    "Sections of the snapshot.",
  ),
  stages: member(
    record({
      read: member(Type.Number(), "Time to fetch and read the sources."),
      build: member(Type.Number(), "Time to build the sections."),
      verify: member(Type.Number(), "Time to verify the sections."),
      publish: member(Type.Number(), "Time to write the snapshot to the store."),
    }),
    "Duration of each stage in seconds.",
  ),
  peak_rss_bytes: member(Count, "Peak resident memory of the process of the run, in bytes."),
  error: member(NullableText, "Why the run failed; null if it did not fail."),
});
export type RunReport = Static<typeof RunReport>;

const summaryMembers = {
  id: member(Type.String(), "Id of the run."),
  state: member(oneOf(["running", "succeeded", "failed"]), "State of the run."),
  started_at: member(Timestamp, "Time at which the run started."),
  ended_at: member(NullableTimestamp, "Time at which the run ended; null while it is running."),
  started_by: member(
    NullableText,
    "Initiator of the run: `key:<id>` for an operator's key, `cli:<user>` for the command line, `start` for an import that ingest begins with, `schedule`; null if unknown.",
  ),
  snapshot: member(NullableText, publishedSnapshot),
  replaces: member(NullableText, "For a rollback: the snapshot that was to be replaced by an earlier one. Null for an import."),
  error: member(NullableText, "Why the run failed; null if it did not fail."),
};

/** A run in a list. */
export const IngestRunSummary = record(summaryMembers);
export type IngestRunSummary = Static<typeof IngestRunSummary>;

/** What a run is doing. */
const RunProgress = record({
  stage: member(Type.String(), "What is being done, such as `read rrc00`, `build routes`, `verify` or `publish`."),
  done: member(Count, "How much of it is done."),
  total: member(NullableCount, "How much there is to do; null if unknown."),
  unit: member(oneOf(["bytes", "steps"]), "Unit of `done` and `total`. `bytes` are those of the stored file."),
});

export const IngestRun = record({
  ...summaryMembers,
  progress: member(
    nullable(RunProgress),
    "What the run is doing; null if it has ended or has just started, or if the process that leads cannot be asked.",
  ),
  report: member(
    nullable(RunReport),
    "Report of what was read, skipped and built; null while the run is in progress, or if its process died.",
  ),
});
export type IngestRun = Static<typeof IngestRun>;

export const IngestRuns = record({
  items: member(Type.Array(IngestRunSummary), "Runs, newest first; those that a wrong clock dated in the future come last."),
});
export type IngestRuns = Static<typeof IngestRuns>;

/** When a source is checked, and the result. */
export const SourceSchedule = record({
  checked_at: member(NullableTimestamp, "Time of the last check, successful or not; null if there was none."),
  succeeded_at: member(NullableTimestamp, "Time at which the newest version was last confirmed to be stored; null if never."),
  next_check_at: member(
    NullableTimestamp,
    "Time of the next check. A time in the past means as soon as a process follows the schedule. Null if no check is planned.",
  ),
  failures: member(
    Count,
    "Number of failed checks since the last successful one; of an RTR source, failed attempts while no cache is synchronised.",
  ),
  error: member(NullableText, "Why the last check failed, or why no RTR cache is synchronised; null if neither is the case."),
  refused: member(NullableText, "Why a run could not use the latest version; null if it could."),
  url: member(NullableText, "URL that the stored version was fetched from, without credentials; null for a local file."),
  fetched_at: member(NullableTimestamp, "Time at which the stored version was fetched; null for a local file."),
  sha256: member(NullableText, "SHA-256 of the stored version in hexadecimal; null if none is stored."),
});
export type SourceSchedule = Static<typeof SourceSchedule>;

export const IngestSource = record({
  ...listedSource,
  location: member(Type.String(), "Path or URL, as in the list of sources."),
  required: member(Type.Boolean(), "Whether a run fails without this source."),
  state: member(
    oneOf(["read", "kept", "failed", "unknown"]),
    "`kept`: the last check or run could not use the newest version (see `error`), and a previous one is in service. `failed`: none is in service. `unknown`: no stored run read it.",
  ),
  error: member(NullableText, "Why the last check failed, or why the newest version could not be used; null if neither is the case."),
  as_of: member(NullableTimestamp, "Time of the data of the last usable version; null if unknown."),
  accepted: member(NullableCount, "Number of records imported from that version; null if unknown."),
  skipped: member(NullableCount, "Number of records skipped in that version; null if unknown."),
  read_at: member(NullableTimestamp, "Time at which that version was read; null if unknown."),
  stale: member(nullable(Type.Boolean()), "Whether that version is out of date; null if unknown, or if the source never becomes stale."),
  interval_seconds: member(Count, "Update interval of the source in seconds, as in the list."),
  stale_after_seconds: member(NullableCount, "Age in seconds at which the source becomes stale; null if it never does."),
  run: member(NullableText, "Id of the last run that read the source; null if there is none."),
  schedule: member(
    nullable(SourceSchedule),
    "Schedule of the source and the result of its last check; null while no process is the leader.",
  ),
});
export type IngestSource = Static<typeof IngestSource>;

export const IngestSources = record({
  items: member(Type.Array(IngestSource), "Sources, in the order of the list."),
  faults: member(Type.Array(Type.String()), "Errors in the list itself, each with its line number. If there are any, `items` is empty."),
  list_sha256: member(NullableText, "SHA-256 of the list as ingest reads it now, in hexadecimal; null if the file cannot be read."),
});
export type IngestSources = Static<typeof IngestSources>;

const unusable = "rrc00.gz: the input ends 12 bytes into a record, which has 96 bytes (record at byte 4096)";
const stage = { from: "run", unit: seconds } as const;

const updateFacts: FactsOf<Static<typeof UpdateCounts>> = {
  files: { from: "run", unit: "files", example: 12 },
  messages: { from: "source", unit: "BGP messages", example: 184_203 },
  announced: { from: "source", unit: "routes", example: 1_204_377 },
  withdrawn: { from: "source", unit: "routes", example: 90_114 },
  state_changes: { from: "source", unit: "changes", example: 2 },
  sessions_lost: { from: "source", unit: "sessions", example: 1 },
  routes_lost: { from: "run", unit: "routes", example: 1_045_469 },
  gaps: {
    from: { from: "run", example: "2026-11-21T08:20:00Z" },
    to: { from: "run", example: "2026-11-21T08:30:00Z" },
  },
  refused_file: { from: "run", example: "updates.20261121.0835.gz" },
};

const runSourceFacts: FactsOf<RunSource> = {
  name: "list",
  section: "list",
  format: "list",
  file: "run",
  url: "run",
  fetched_at: "run",
  state: "run",
  read: { from: "source", unit: records },
  accepted: { from: "run", unit: records },
  skipped: {
    reason: "run",
    bad: "run",
    count: { from: "run", unit: records },
    examples: {
      line: { from: "source", unit: "lines, from 1", example: 4_711 },
      offset: { from: "source", unit: bytes },
      text: "source",
    },
  },
  bytes: { from: "source", unit: bytes },
  stored_bytes: { from: "source", unit: bytes },
  seconds: { from: "run", unit: seconds },
  as_of: "source",
  sha256: "source",
  notes: "run",
  error: { from: "run", example: unusable },
  updates: updateFacts,
};

const summaryFacts: FactsOf<IngestRunSummary> = {
  id: "run",
  state: "run",
  started_at: "run",
  ended_at: "run",
  started_by: "run",
  snapshot: "run",
  replaces: { from: "run", example: "20261121T080000Z-2c7e4f0d" },
  error: { from: "run", example: unusable },
};

const inUnit = "as in `unit`";

export const runFacts: FactsOf<IngestRun> = {
  ...summaryFacts,
  progress: {
    stage: { from: "run", example: "verify" },
    done: { from: "run", unit: inUnit, example: 3 },
    total: { from: "run", unit: inUnit, example: 9 },
    unit: { from: "run", example: "steps" },
  },
  report: {
    snapshot: "run",
    unchanged: "run",
    sample_data: "run",
    sources: runSourceFacts,
    sections: {
      name: "run",
      version: "run",
      kept: "run",
      refused: {
        from: "run",
        example: "has 5 names, compared with 10 in the last snapshot: it shrank by more than section_shrink_max (0.2) allows",
      },
      checked: { from: "run", unit: records },
      counts: { from: "run", unit: records },
      notes: { from: "run", example: "the history of the last snapshot cannot be used and starts again" },
    },
    stages: { read: stage, build: stage, verify: stage, publish: stage },
    peak_rss_bytes: { from: "run", unit: bytes },
    error: { from: "run", example: unusable },
  },
};

export const runsFacts: FactsOf<IngestRuns> = { items: summaryFacts };

const scheduleFacts: FactsOf<SourceSchedule> = {
  checked_at: "schedule",
  succeeded_at: "schedule",
  next_check_at: "schedule",
  failures: { from: "schedule", unit: "checks" },
  error: { from: "schedule", example: "https://data.ris.ripe.net/rrc00/latest-bview.gz: the server returned status 503" },
  refused: { from: "schedule", example: unusable },
  url: "schedule",
  fetched_at: "schedule",
  sha256: "schedule",
};

export const sourcesFacts: FactsOf<IngestSources> = {
  items: {
    name: "list",
    section: "list",
    format: "list",
    location: "list",
    required: "list",
    state: ["run", "schedule"],
    error: { from: ["run", "schedule"], example: unusable },
    as_of: "source",
    accepted: { from: "run", unit: records },
    skipped: { from: "run", unit: records },
    read_at: "run",
    stale: ["source", "list"],
    interval_seconds: { from: "list", unit: seconds },
    stale_after_seconds: { from: "list", unit: seconds },
    run: "run",
    schedule: scheduleFacts,
  },
  faults: { from: "list", example: '6:5 unknown key "formt" in a source; did you mean "format"?' },
  list_sha256: "list",
};
