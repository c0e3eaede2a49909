/** Observations and geofeeds as they were uploaded, line by line, and how far each upload came. */

import type { Prefix } from "@netfacts/address";

export type UploadFormat = "ndjson" | "csv" | "geofeed";

/** A line that was not stored. */
export interface BadLine {
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

/** How much of an upload is stored. */
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
  /** Of CSV: the line that names the columns; null: none was read so far. */
  readonly header: string | null;
  /** The end of the file was read. */
  readonly complete: boolean;
}

export interface NewUpload {
  readonly id: string;
  readonly format: UploadFormat;
  /** The name under which its observations count as one opinion. */
  readonly source: string;
  /** Id of the key that began it; null: the command line. */
  readonly keyId: string | null;
}

/** Times are Unix milliseconds. */
export interface UploadRecord extends NewUpload, UploadProgress {
  /** From 1, in the order in which uploads began. Never used again. */
  readonly number: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What one line says. Of a geofeed's line `observedAt`, `method` and the coordinates are null; without a country, region and city it says "no location". */
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

/** Rows to remove: of a prefix and everything inside it, of uploads (by number, both included), observed before a time (Unix seconds), or the oldest ones. */
export type RowSelector =
  | { readonly within: Prefix }
  | { readonly fromUpload: number; readonly toUpload: number }
  | { readonly observedBefore: number }
  | { readonly oldest: true };

/** Lines that an upload may have, and uploads that a store may ever have: together they number rows. */
export const uploadLinesMax = 2 ** 30 - 1;
export const uploadNumberMax = 2 ** 23 - 1;

export interface ObservationRepository {
  /** Writes down a new upload, or returns the one of this id as it is. */
  begin(upload: NewUpload, at: number): Promise<UploadRecord>;
  find(id: string): Promise<UploadRecord | null>;
  /** The latest begun first, those that began before `before`. */
  uploads(limit: number, before?: number): Promise<UploadRecord[]>;
  uploadCount(): Promise<number>;
  /**
   * Stores rows and how far the upload came. A row of a line that is stored already is left as it is.
   *
   * @param upload  as it was read last.
   * @returns the upload as it is now; null: another request changed or removed it meanwhile, and its progress is as that one left it.
   */
  store(upload: UploadRecord, rows: readonly ObservationRow[], progress: UploadProgress, at: number): Promise<UploadRecord | null>;
  /** Removes the record of an upload, whose rows were removed. */
  forget(number: number): Promise<void>;
  /** Changes with every row that is stored or removed. */
  revision(): Promise<number>;
  rowCount(): Promise<number>;
  /** Whether rows of the upload are stored. */
  hasRows(number: number): Promise<boolean>;
  /** Unix seconds; null: there are no observations. */
  newest(): Promise<number | null>;
  /** Every row, by upload and line, in groups. Rows that are stored or removed meanwhile may be missing. */
  all(): AsyncGenerator<StoredRow[], void>;
  /** Rows of prefixes that contain the prefix, of itself, and of prefixes inside it, in groups. */
  about(prefix: Prefix): AsyncGenerator<StoredRow[], void>;
  /** @returns how many rows were removed; fewer than `limit`: there are no others. */
  remove(selector: RowSelector, limit: number): Promise<number>;
}

/** A repository with a file or connection of its own. */
export interface ObservationStore extends ObservationRepository {
  close(): Promise<void>;
}
