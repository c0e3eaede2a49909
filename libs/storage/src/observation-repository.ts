/** Uploaded observations and geofeeds, line by line, and the progress of each upload. */

import type { Prefix } from "@netfacts/address";

export type UploadFormat = "ndjson" | "csv" | "geofeed";

/** A line that was not stored. */
export interface BadLine {
  /** Line number, from 1. */
  readonly line: number;
  readonly reason: string;
}

/** The part of an upload that is stored. */
export interface UploadProgress {
  /** Bytes of the file up to the end of the last line that was read. */
  readonly offset: number;
  /** CRC-32 of these bytes; null: an earlier version stored some of them. */
  readonly checksum: number | null;
  readonly lines: number;
  /** Lines that were stored. */
  readonly rows: number;
  /** Lines that were not stored because they break a rule, and the first of them. */
  readonly bad: number;
  readonly badLines: readonly BadLine[];
  /** For CSV: the line with the names of the columns; null: not read yet. */
  readonly header: string | null;
  /** The end of the file was read. */
  readonly complete: boolean;
}

export interface NewUpload {
  readonly id: string;
  readonly format: UploadFormat;
  /** Observations under the same name count as one opinion. */
  readonly source: string;
  /** Id of the key that began the upload; null: the command line. */
  readonly keyId: string | null;
}

/** Times are Unix milliseconds. */
export interface UploadRecord extends NewUpload, UploadProgress {
  /** From 1, in the order in which uploads began. Never reused. */
  readonly number: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/**
 * The content of one line. For a line of a geofeed, `observedAt`, `method` and the coordinates are null; if country, region and city are null too, it
 * says "no location".
 */
export interface ObservationRow {
  readonly line: number;
  readonly prefix: Prefix;
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly accuracyKm: number | null;
  /** Unix seconds. */
  readonly observedAt: number | null;
  readonly method: string | null;
}

export interface StoredRow extends ObservationRow {
  /** Number of the upload. */
  readonly upload: number;
}

/**
 * Rows to remove: of a prefix and everything inside it, of uploads (by number, inclusive), observed before a time (Unix seconds), or the oldest ones.
 */
export type RowSelector =
  | { readonly within: Prefix }
  | { readonly fromUpload: number; readonly toUpload: number }
  | { readonly observedBefore: number }
  | { readonly oldest: true };

/** Limits of the lines of an upload and of the uploads of a store, ever: together they number rows. */
export const uploadLinesMax = 2 ** 30 - 1;
export const uploadNumberMax = 2 ** 23 - 1;

export interface ObservationRepository {
  /** Records a new upload, or returns the existing one with this id unchanged. */
  begin(upload: NewUpload, at: number): Promise<UploadRecord>;
  find(id: string): Promise<UploadRecord | null>;
  /** Uploads that began before the number `before`, latest first. */
  uploads(limit: number, before?: number): Promise<UploadRecord[]>;
  uploadCount(): Promise<number>;
  /**
   * Stores rows and the progress of the upload. A row whose line is stored already stays as it is.
   *
   * @param upload  the record that was read last.
   * @returns the record now; null: another request changed or removed the upload meanwhile, and its progress is unchanged.
   */
  store(upload: UploadRecord, rows: readonly ObservationRow[], progress: UploadProgress, at: number): Promise<UploadRecord | null>;
  /**
   * Removes the record of an upload whose rows were removed before.
   *
   * @param asRead  the record as it was read; if it was changed since, it stays. Default: whatever it is.
   * @returns whether there is no such record now.
   */
  forget(number: number, asRead?: Pick<UploadRecord, "offset" | "lines" | "complete">): Promise<boolean>;
  /** A number that changes with every row that is stored or removed. */
  revision(): Promise<number>;
  rowCount(): Promise<number>;
  /** Whether rows of the upload are stored. */
  hasRows(number: number): Promise<boolean>;
  /** Time of the newest observation, Unix seconds; null: there are none. */
  newest(): Promise<number | null>;
  /** All rows, by upload and line, in groups. Rows that are stored or removed meanwhile may be missing. */
  all(): AsyncGenerator<StoredRow[], void>;
  /** Rows of the prefix, of prefixes that contain it, and of prefixes inside it, in groups. */
  about(prefix: Prefix): AsyncGenerator<StoredRow[], void>;
  /** @returns the number of removed rows; if it is below `limit`, no others are left. */
  remove(selector: RowSelector, limit: number): Promise<number>;
}

/** A repository with a file or connection of its own. */
export interface ObservationStore extends ObservationRepository {
  close(): Promise<void>;
}
