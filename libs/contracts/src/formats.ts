/** The formats of lists, which `format` and `Accept` choose from, and the columns of their lines. */

/** Formats besides JSON. Each shows one list of the record, with one line for each item. */
export const listFormats = ["ndjson", "csv", "text"] as const;
export type ListFormat = (typeof listFormats)[number];

/** Every value of `format`. */
export const formats = ["json", ...listFormats] as const;
export type Format = (typeof formats)[number];

/** Media types for `Accept`. Their order decides if the caller has no preference. */
export const mediaTypes: Readonly<Record<Format, string>> = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
  text: "text/plain",
};

/** `Content-Type` of each format. CSV has a header line, which the type states (RFC 4180 §3). */
export const contentTypes: Readonly<Record<Format, string>> = {
  json: "application/json; charset=utf-8",
  ndjson: "application/x-ndjson; charset=utf-8",
  csv: "text/csv; charset=utf-8; header=present",
  text: "text/plain; charset=utf-8",
};

/** The list that the formats besides JSON show, and its columns in CSV. NDJSON has the items as in the record, and text one member of each. */
export interface ListView {
  readonly list: ListName;
  readonly columns: readonly string[];
  /** The member in plain text. Default: `prefix`. */
  readonly line?: string;
}

/** Lists with pages, by their path in the record. The position of a name here is its number in cursors and never changes. */
export const listNames = [
  "prefixes",
  "allocations",
  "more_specifics",
  "neighbours",
  "vrps.unannounced",
  "allocation.blocks",
  "changes",
  "results",
  "vrps",
] as const;
export type ListName = (typeof listNames)[number];

/** The top-level member of the record that has the list. */
export function memberOfList(list: string): string {
  return list.split(".", 1)[0] as string;
}
