/** What a run tells at its end: per source and per stage, what was read, what was left out and why. */

import type { ReaderReport, SkippedRecords } from "../readers/index.ts";
import type { SourceConfig } from "../sources/index.ts";

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
  readonly notes: readonly string[];
  readonly error: string | null;
}

export interface RunReport {
  /** The snapshot that was published, or was already there with the same content; null when none was. */
  readonly snapshot: string | null;
  readonly unchanged: boolean;
  readonly sample_data: boolean;
  readonly sources: readonly SourceReport[];
  /** Sections with their version, counts and whether they were built or taken from the last snapshot. */
  readonly sections: readonly {
    readonly name: string;
    readonly version: string;
    readonly kept: boolean;
    readonly counts: Readonly<Record<string, number>>;
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
  return { url: fetched.url, fetched_at: `${new Date(fetched.fetchedAt).toISOString().slice(0, 19)}Z` };
}

/** A source that failed as it stands in the report. */
export function failedSourceReport(source: SourceConfig, error: Error): SourceReport {
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
  };
}
