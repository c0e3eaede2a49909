/** Reads one line of an upload, in the format of the upload. */

import type { ObservationRow, UploadFormat } from "@netfacts/storage";
import { firstLineHint, splitCsvLine } from "../readers/csv.ts";
import { geofeedEntryOf, withoutComment } from "../readers/geofeed.ts";
import { observationMembers, observationOfFields, observationOfJson } from "../readers/observations.ts";

export type ReadRow = Omit<ObservationRow, "line">;

/** The file has another format than its sender states. */
export class NotThisFormatError extends Error {
  override readonly name = "NotThisFormatError";
}

export interface LineReader {
  /** Reads a line. Null: it has no data, as a blank line or a comment. Returns text to say what is wrong. @throws NotThisFormatError */
  read(text: string, latestTime: number): ReadRow | string | null;
  /** For CSV: the line that names the columns. */
  readonly header: string | null;
}

/** @param header  as stored with the upload that is resumed */
export function lineReader(format: UploadFormat, header: string | null): LineReader {
  if (format === "csv") return new CsvReader(header);
  return { read: format === "ndjson" ? readJson : readGeofeedLine, header: null };
}

function readJson(text: string, latestTime: number): ReadRow | string | null {
  return text.trim() === "" ? null : observationOfJson(text, latestTime);
}

function readGeofeedLine(line: string): ReadRow | string | null {
  const text = withoutComment(line);
  if (text.trim() === "") return null;
  const entry = geofeedEntryOf(text);
  if (typeof entry === "string") return entry;
  const { country = null, region = null, city = null } = entry.place ?? {};
  const nothing = { latitude: null, longitude: null, accuracyKm: null, observedAt: null, method: null };
  return { prefix: entry.prefix, country, region, city, ...nothing };
}

class CsvReader implements LineReader {
  header: string | null;
  #names: readonly string[] | null;

  constructor(header: string | null) {
    this.header = header;
    this.#names = header === null ? null : namesOf(header);
  }

  read(text: string, latestTime: number): ReadRow | string | null {
    if (text.startsWith("#") || text.trim() === "") return null;
    if (this.#names === null) {
      this.#names = namesOf(text);
      this.header = text;
      return null;
    }
    const fields = splitCsvLine(text);
    if (fields === null) return "a quote is not closed";
    if (fields.length !== this.#names.length) return "the number of fields differs from the first line";
    return observationOfFields(Object.fromEntries(this.#names.map((name, at) => [name, fields[at] as string])), latestTime);
  }
}

function namesOf(line: string): readonly string[] {
  const names = splitCsvLine(line)?.map((name) => name.toLowerCase()) ?? [];
  const known: readonly string[] = observationMembers;
  const isGood = names.includes("observed_at") && names.every((name) => known.includes(name)) && new Set(names).size === names.length;
  if (isGood) return names;
  const optional = known.filter((name) => name !== "observed_at").join(", ");
  throw new NotThisFormatError(`the first line must name the columns (required: observed_at; optional: ${optional})${firstLineHint(line)}`);
}
