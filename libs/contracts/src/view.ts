/** How an answer shows its record: which members, in which format, and which page of a list. It is sent after the question. */

import { type Format, formats, type ListName } from "./formats.ts";
import { none, separator } from "./operations/codec.ts";
import { type OperationName, operations, type Questions } from "./operations/index.ts";
import { decodeQuestion, encodeQuestion, QuestionSyntaxError } from "./questions.ts";
import { snapshotIdPattern } from "./snapshot-number.ts";

/** Where a list continues. */
export interface Page {
  readonly list: ListName;
  /** Index of the first item, from 0. */
  readonly start: number;
}

export interface View {
  /** Top-level members that are kept besides `meta`, in the record's order; null: all. */
  readonly fields: readonly string[] | null;
  readonly format: Format;
  /** Null: every list from its beginning. */
  readonly page: Page | null;
  /** Whether `meta` stands at the end of the record. */
  readonly meta: boolean;
  /** Absent if the question is about the present. */
  readonly past?: PastView;
}

/** The past time that a question is about. */
export interface PastView {
  /** Unix seconds. */
  readonly at: number;
  /** The snapshot in which a list continues; null: the snapshot of that time. */
  readonly snapshotId: string | null;
  /** Distinguishes callers well enough for them to take turns: 0 to `turnMax`. No part of the answer depends on it. */
  readonly turn: number;
}

/** The largest `turn`. */
const turnMax = 0xffff_ffff;

/** The view of most requests. */
export const wholeRecord: View = { fields: null, format: "json", page: null, meta: true };

/** Separates question and view. Neither contains it. */
const viewMark = " ";

/** Ends a view without `meta`; pods of the previous version refuse it. */
const noMeta = "no_meta";

/** First letters of the word for a time; pods of the previous version refuse it. */
const pastMark = "past";
const pastPattern = new RegExp(`^past:(\\d{1,10}):(-|${snapshotIdPattern}):(\\d{1,10})$`);

/** No list is longer. */
const startMax = 0xffff_ffff;

/** Names of an operation's top-level members: what `fields` takes. */
export function membersOf(op: OperationName): readonly string[] {
  return Object.keys(operations[op].record.properties);
}

/** The only text of this question with this view. It is the text of the question alone if the view is the whole record. */
export function encodeQuery<O extends OperationName>(op: O, question: Questions[O], view: View): string {
  const text = encodeQuestion(op, question);
  if (view === wholeRecord) return text;
  const { fields, format, page, meta, past } = view;
  if (fields === null && format === "json" && page === null && meta && past === undefined) return text;
  const words = [format, fields?.join(",") ?? none, page === null ? none : `${page.list}:${page.start}`];
  if (!meta) words.push(noMeta);
  if (past !== undefined) words.push([pastMark, past.at, past.snapshotId ?? none, past.turn].join(":"));
  return text + viewMark + words.join(separator);
}

/**
 * Parses a query.
 *
 * @throws QuestionSyntaxError on anything that `encodeQuery` does not produce.
 */
export function decodeQuery<O extends OperationName>(op: O, query: string): { readonly question: Questions[O]; readonly view: View } {
  const at = query.indexOf(viewMark);
  if (at < 0) return { question: decodeQuestion(op, query), view: wholeRecord };
  const question = decodeQuestion(op, query.slice(0, at));
  const view = readView(op, query.slice(at + 1));
  if (view === null || encodeQuery(op, question, view) !== query) throw new QuestionSyntaxError(op);
  return { question, view };
}

/** The caller (`PastView.turn`) of a query about the past, from the end of the query alone; empty if it is not about the past. */
export function pastCallerOf(query: string): string {
  return pastPattern.exec(query.slice(query.lastIndexOf(separator) + 1))?.[3] ?? "";
}

function readView(op: OperationName, text: string): View | null {
  const [formatText, fieldsText, pageText, ...marks] = text.split(separator);
  const past = readPast(marks.at(-1));
  if (past !== undefined) marks.pop();
  const [metaText, ...rest] = marks;
  const format = formats.find((name) => name === formatText);
  const fields = readFields(op, fieldsText);
  const page = readPage(op, pageText);
  const isRead = format !== undefined && fields !== undefined && page !== undefined && rest.length === 0;
  if (!isRead || (metaText !== undefined && metaText !== noMeta)) return null;
  return { fields, format, page, meta: metaText === undefined, ...(past !== undefined && { past }) };
}

/** Undefined if the word is not a time. */
function readPast(text: string | undefined): PastView | undefined {
  const parts = pastPattern.exec(text ?? "");
  if (parts === null) return undefined;
  const [, at, id, turn] = parts;
  const past = { at: Number(at), snapshotId: id === none ? null : (id as string), turn: Number(turn) };
  return past.at <= 0xffff_ffff && past.turn <= turnMax ? past : undefined;
}

/** Undefined if invalid. */
function readFields(op: OperationName, text: string | undefined): readonly string[] | null | undefined {
  if (text === undefined || text === none) return text === none ? null : undefined;
  const names = new Set(text.split(","));
  const fields = membersOf(op).filter((name) => names.has(name));
  return fields.length === names.size ? fields : undefined;
}

function readPage(op: OperationName, text: string | undefined): Page | null | undefined {
  if (text === undefined || text === none) return text === none ? null : undefined;
  const [name, startText = ""] = text.split(":");
  const list = operations[op].lists.find((candidate) => candidate === name);
  const start = /^[1-9]\d{0,9}$/.test(startText) ? Number(startText) : 0;
  return list === undefined || start === 0 || start > startMax ? undefined : { list, start };
}

/** The record with the members of the view, in its own order, and `meta` unless the view has none. */
export function shownMembers(record: object, { fields, meta }: Pick<View, "fields" | "meta">): object {
  if (fields === null && meta) return record;
  const isShown = (name: string) => (name === "meta" ? meta : fields === null || fields.includes(name));
  return Object.fromEntries(Object.entries(record).filter(([name]) => isShown(name)));
}
