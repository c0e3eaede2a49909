/** Records in the requested form: whole, some of their members, or one of their lists with a line per item. */

import {
  type ListFormat,
  type ListView,
  type OperationName,
  operations,
  ProblemError,
  shownMembers,
  type View,
  wholeRecord,
} from "@netfacts/contracts";
import { type AnswerNotes, noted, type RecordAnswer } from "./answer.ts";
import { finish, jsonSteps, type Steps } from "./steps.ts";

type Item = Readonly<Record<string, unknown>>;

/** Serialises the part of a record that the view shows as JSON. */
export function shownAnswer(notes: AnswerNotes, record: object, view: View, requestId: string): RecordAnswer {
  return finish(shownSteps(notes, record, view, requestId));
}

/** As `shownAnswer`, in steps. */
export function* shownSteps(notes: AnswerNotes, record: object, view: View, requestId: string): Steps<RecordAnswer> {
  const members = view === wholeRecord ? record : shownMembers(record, view);
  return noted(notes, yield* jsonSteps(view.meta ? { ...members, meta: notes.meta(requestId) } : members));
}

/**
 * The list of a record in another format, without `meta`.
 *
 * Throws `ProblemError` for a list of prefixes if no routes are imported: without lines it would look like a list that is known to be empty. Also
 * throws if the operation has no list in that format: an edge should have refused the request.
 */
export function shownList(op: OperationName, notes: AnswerNotes, record: object, format: ListFormat): RecordAnswer {
  const shown = operations[op].listView;
  if (shown === null) throw new Error(`operation ${op} has no list in the format ${format}`);
  // Lists of prefixes.
  const isOfRoutes = shown.line === undefined;
  if (isOfRoutes && notes.generation.manifest.sections.routes === undefined)
    throw new ProblemError("data_not_ready", {
      detail: `\`${shown.list}\` is unknown, because the data that it comes from are not loaded.`,
    });
  const { items } = (record as Readonly<Record<string, { readonly items: readonly Item[] }>>)[shown.list] ?? { items: [] };
  const next = notes.nextStart(shown.list);
  return { ...noted(notes, Buffer.from(listText(items, format, shown))), ...(next !== undefined && { next }) };
}

/** One line per item; without items empty, except for the header line of CSV. */
export function listText(items: readonly Item[], format: ListFormat, { columns, line = "prefix" }: ListView): string {
  switch (format) {
    case "ndjson":
      return items.map((item) => `${JSON.stringify(item)}\n`).join("");
    case "text":
      return items.map((item) => `${item[line]}\n`).join("");
    case "csv":
      return [columns.join(","), ...items.map((item) => columns.map((column) => csvCell(item[column])).join(","))]
        .map((line) => `${line}\r\n`)
        .join("");
  }
}

/**
 * A cell of CSV (RFC 4180): empty for unknown values; values of a list separated by spaces, an AS_SET as `{64500,64501}`. An apostrophe is put before
 * a text that a spreadsheet would read as a formula.
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) {
    const parts = value.filter((part) => part !== null);
    return csvCell(parts.map((part) => (Array.isArray(part) ? `{${part.join(",")}}` : part)).join(" "));
  }
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
