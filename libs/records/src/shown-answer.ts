/** Records as they are asked to be shown: whole, some of their members, or one list of them a line an item. */

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

/** Serialises what the view shows of a record as JSON. */
export function shownAnswer(notes: AnswerNotes, record: object, view: View, requestId: string): RecordAnswer {
  return finish(shownSteps(notes, record, view, requestId));
}

/** The same in steps. */
export function* shownSteps(notes: AnswerNotes, record: object, view: View, requestId: string): Steps<RecordAnswer> {
  const members = view === wholeRecord ? record : shownMembers(record, view);
  return noted(notes, yield* jsonSteps(view.meta ? { ...members, meta: notes.meta(requestId) } : members));
}

/**
 * The list of a record in another format, without `meta`.
 *
 * Throws `ProblemError` for a list of prefixes where no routes are imported: without lines it would read as a list that is known to be empty. Also throws
 * where the operation has no list in that format: an edge has let through what it must refuse.
 */
export function shownList(op: OperationName, notes: AnswerNotes, record: object, format: ListFormat): RecordAnswer {
  const shown = operations[op].listView;
  if (shown === null) throw new Error(`operation ${op} has no list in the format ${format}`);
  // Those that show prefixes.
  const isOfRoutes = shown.line === undefined;
  if (isOfRoutes && notes.generation.manifest.sections.routes === undefined)
    throw new ProblemError("data_not_ready", {
      detail: `\`${shown.list}\` is unknown, because the data that it comes from are not loaded.`,
    });
  const { items } = (record as Readonly<Record<string, { readonly items: readonly Item[] }>>)[shown.list] ?? { items: [] };
  const next = notes.nextStart(shown.list);
  return { ...noted(notes, Buffer.from(listText(items, format, shown))), ...(next !== undefined && { next }) };
}

/** Items a line each; empty for none, but for the header line of CSV. */
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
 * A cell of CSV (RFC 4180): empty for what is not known; lists of values separated by blanks, an AS_SET as `{64500,64501}`. What a spreadsheet would take for a
 * formula is made a text by a leading apostrophe.
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
