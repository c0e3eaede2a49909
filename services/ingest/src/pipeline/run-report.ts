/** What a run tells at its end: per source and per stage, what was read, what was left out and why. */

import { timestamp } from "@netfacts/contracts";
import type { SectionName } from "@netfacts/snapshot";
import type { ReaderReport, SkippedRecords } from "../readers/reader-report.ts";
import type { SourceConfig } from "../sources/index.ts";
import type { ReadUpdates } from "./read-updates.ts";

/**
 * `failed`: an optional source that could not be trusted; what its section had before stays where nothing else fills it. `kept`: the
 * same, and the version was read that a run could use before.
 */
export type SourceState = "read" | "kept" | "failed";

export interface SourceReport {
  readonly name: string;
  readonly section: string;
  readonly format: string;
  readonly file: string;
  /** Where the file was fetched from, without credentials, and when; null for a file. */
  readonly url: string | null;
  readonly fetched_at: string | null;
  readonly state: SourceState;
  readonly read: number;
  readonly accepted: number;
  readonly skipped: readonly SkippedRecords[];
  /** Unpacked, and as stored. */
  readonly bytes: number;
  readonly stored_bytes: number;
  readonly seconds: number;
  readonly as_of: string | null;
  readonly sha256: string | null;
  readonly notes: string[];
  readonly error: string | null;
  /** Of a source of updates that was read, or that was refused for one of its files. */
  readonly updates?: UpdateCounts;
}

/** What updates did to their table. */
export interface UpdateCounts {
  /** That were applied. */
  readonly files: number;
  readonly messages: number;
  /** Routes. */
  readonly announced: number;
  readonly withdrawn: number;
  readonly state_changes: number;
  /** Sessions that left Established, and the routes that went with them. */
  readonly sessions_lost: number;
  readonly routes_lost: number;
  /** Times between which updates are missing; `to` null: everything after `from`. */
  readonly gaps: readonly { readonly from: string; readonly to: string | null }[];
  /** The file that could not be trusted: it and all behind it were left out. */
  readonly refused_file: string | null;
}

/** What everybody may read of a source that failed, in the manifest of the snapshot; the run's report says why. */
export const unreadText = "could not be read in the last run";

/** The same where its section was not built without it. */
export const unreadKeptText = `${unreadText}; the previous version is in use`;

/** What everybody may read of the sources of a section that shrank too much, in the manifest of the snapshot that keeps it. What is told of the data may follow. */
export const refusedText =
  "the section that it was part of in the last run was refused, because the section had shrunk; the previous one is in use";

/** The same of a source of which the version before is in use. What is told of that version may follow. */
export const earlierText = "the newest version of this source could not be used in the last run; the previous version is in use";

/** The same of updates some of whose files were left out. */
export const partlyReadText = "some of its files could not be used in the last run";

/**
 * The error of a source whose section is kept: what became of it in the last run, followed by what its last error says of the data
 * themselves, which stay in use.
 */
export function keptError(lastRun: typeof unreadKeptText | typeof refusedText, error: string | null): string {
  const ofBefore = [unreadKeptText, unreadText, refusedText, earlierText, partlyReadText].find((text) => error?.startsWith(text) === true);
  const ofData = ofBefore === undefined ? error : error?.slice(`${ofBefore}; `.length);
  return ofData ? `${lastRun}; ${ofData}` : lastRun;
}

export interface RunReport {
  /** The snapshot that was published, or was already there with the same content; null when none was. */
  readonly snapshot: string | null;
  readonly unchanged: boolean;
  readonly sample_data: boolean;
  readonly sources: readonly SourceReport[];
  /** Sections with their version, counts and whether they were built or taken from the last snapshot. */
  readonly sections: readonly {
    readonly name: SectionName;
    readonly version: string;
    readonly kept: boolean;
    /** Of a section that was built and shrank too much: what it had lost. The last one was kept; null: there was no such thing. */
    readonly refused: string | null;
    /** Records of its sources that the snapshot was asked for and answered; 0 for a section that was taken over. */
    readonly checked: number;
    readonly counts: Readonly<Record<string, number>>;
    /** What an operator should know of how it was built; absent: nothing. */
    readonly notes?: readonly string[];
  }[];
  readonly stages: Readonly<Record<"read" | "build" | "verify" | "publish", number>>;
  readonly peak_rss_bytes: number;
  readonly error: string | null;
}

/** A source as it stands in the report. @param newer  why its newest version could not be used, where this is the one before. */
export function sourceReport(
  source: SourceConfig,
  report: ReaderReport,
  stored: { bytes: number; sha256: string },
  asOf: string | null,
  newer: Error | null = null,
): SourceReport {
  return {
    name: source.name,
    section: source.section,
    format: source.format,
    file: source.location,
    ...provenance(source),
    state: newer === null ? "read" : "kept",
    read: report.read,
    accepted: report.accepted,
    skipped: report.skipped,
    bytes: report.bytes,
    stored_bytes: stored.bytes,
    seconds: Math.round(report.seconds * 1000) / 1000,
    as_of: asOf,
    sha256: stored.sha256,
    notes: report.notes,
    error: newer?.message ?? null,
  };
}

function provenance({ fetched }: SourceConfig): Pick<SourceReport, "url" | "fetched_at"> {
  if (fetched === undefined) return { url: null, fetched_at: null };
  return { url: fetched.url, fetched_at: timestamp(fetched.fetchedAt) };
}

const nothingApplied: UpdateCounts = {
  files: 0,
  messages: 0,
  announced: 0,
  withdrawn: 0,
  state_changes: 0,
  sessions_lost: 0,
  routes_lost: 0,
  gaps: [],
  refused_file: null,
};

/** Updates as they stand in the report: `kept` where a file had to be left out and those before it were applied. */
export function updatesReport(source: SourceConfig, { report, stored, counts, gaps, files, error, refused }: ReadUpdates): SourceReport {
  const updates: UpdateCounts = {
    files,
    messages: counts?.messages ?? 0,
    announced: counts?.announced ?? 0,
    withdrawn: counts?.withdrawn ?? 0,
    state_changes: counts?.stateChanges ?? 0,
    sessions_lost: counts?.sessionsLost ?? 0,
    routes_lost: counts?.routesLost ?? 0,
    gaps: gaps.map(({ from, to }) => ({ from: secondsText(from), to: to === null ? null : secondsText(to) })),
    refused_file: refused,
  };
  if (error !== null && files === 0) return { ...failedSourceReport(source, new Error(error)), updates };
  const newer = error === null ? null : new Error(error);
  return { ...sourceReport(source, report, stored, report.asOf === null ? null : secondsText(report.asOf), newer), updates };
}

/** RFC 3339 in whole seconds. */
function secondsText(seconds: number): string {
  return timestamp(seconds * 1_000);
}

/** A source that failed as it stands in the report. @param refused  of updates: the file for which it did */
export function failedSourceReport(source: SourceConfig, error: Error, refused: string | null = null): SourceReport {
  return {
    name: source.name,
    section: source.section,
    format: source.format,
    file: source.location,
    ...provenance(source),
    state: "failed",
    read: 0,
    accepted: 0,
    skipped: [],
    bytes: 0,
    stored_bytes: 0,
    seconds: 0,
    as_of: null,
    sha256: null,
    notes: [],
    error: error.message,
    ...(refused !== null && { updates: { ...nothingApplied, refused_file: refused } }),
  };
}
