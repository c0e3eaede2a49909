/** Batches that are read as a whole: a JSON document, or lines that are to be answered as one. */

import { isUtf8 } from "node:buffer";
import { batchQuestionsMax, ProblemError, type ProblemItem } from "@netfacts/contracts";
import { quoteValue } from "../../edge/echo.ts";
import type { BodySource } from "./body-source.ts";
import { DocumentFault, documentItems, type Span } from "./document-items.ts";
import { type Item, readItem, unreadableItem } from "./item-reader.ts";
import { type JsonFault, jsonFault } from "./json-fault.ts";
import { type Line, LineSplitter, lineBytesMax } from "./lines.ts";

/** Longest body that is read as a whole, unpacked: a thousand questions of a kilobyte each. */
export const bodyBytesMax = 1 << 20;

export interface ReadOptions {
  /** Whether records have their `meta` where the item does not say. */
  readonly meta: boolean;
  /** Null: go on; else wait for the turn (`CallerTurns.next`). */
  readonly nextTurn: () => Promise<void> | null;
  /** An item of so many characters is about to be read. */
  readonly onRead: (length: number) => void;
}

/** @throws ProblemError, or what the source throws. */
export async function readDocument(source: Pick<BodySource, "next">, { meta, nextTurn, onRead }: ReadOptions): Promise<Item[]> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (let piece = await source.next(); piece !== null; piece = await source.next()) {
    bytes += piece.length;
    if (bytes > bodyBytesMax) throw bodyTooLarge();
    pieces.push(piece);
  }
  const text = textOf(Buffer.concat(pieces, bytes));
  const items: Item[] = [];
  try {
    for (const span of documentItems(text)) {
      if (items.length === batchQuestionsMax) throw tooMany();
      const turn = nextTurn();
      if (turn !== null) await turn;
      onRead(span.end - span.start);
      items.push(readSpan(text, span, meta));
    }
  } catch (error) {
    throw error instanceof DocumentFault ? documentProblem(text, error.fault) : error;
  }
  return items;
}

/** @throws ProblemError, or what the source throws. */
export async function readLines(source: Pick<BodySource, "next">, { meta, nextTurn, onRead }: ReadOptions): Promise<Item[]> {
  const items: Item[] = [];
  let bytes = 0;
  const add = (line: Line) => {
    if (items.length === batchQuestionsMax) throw tooMany();
    onRead(line.bytes);
    items.push(readLine(line, meta));
  };
  const lines = new LineSplitter();
  for (let piece = await source.next(); piece !== null; piece = await source.next()) {
    bytes += piece.length;
    if (bytes > bodyBytesMax) throw bodyTooLarge();
    for (const line of lines.push(piece)) {
      const turn = nextTurn();
      if (turn !== null) await turn;
      add(line);
    }
  }
  const last = lines.end();
  if (last !== null) add(last);
  return items;
}

/** A line as an item; one that cannot be read is a problem in its place. */
export function readLine({ text, number, bytes, fault }: Line, meta: boolean): Item {
  if (text === null) return withLength(unreadableItem(`${fault} (line ${number} of the body)`), bytes);
  const value = parsed(text);
  if (value !== undefined) return withLength(readItem(value, meta), bytes);
  const place = jsonFault(text);
  const where = place === null ? "" : ` at column ${place.column}: ${place.message}`;
  return withLength(unreadableItem(`is not JSON${where} (line ${number} of the body)`), bytes);
}

/** @throws DocumentFault  the item is not JSON. */
function readSpan(text: string, { start, end }: Span, meta: boolean): Item {
  const item = text.slice(start, end);
  if (item.length > lineBytesMax || Buffer.byteLength(item) > lineBytesMax)
    return withLength(unreadableItem(`is longer than ${lineBytesMax} bytes`), item.length);
  const value = parsed(item);
  if (value === undefined) throw new DocumentFault(jsonFault(text, start));
  return withLength(readItem(value, meta), item.length);
}

function withLength(item: Item, length: number): Item {
  return "op" in item ? item : { ...item, length };
}

/** Undefined: the text is not JSON. */
function parsed(text: string): unknown {
  // Nobody reads the stack of the error, which costs more than the parsing.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

export function bodyTooLarge(): ProblemError {
  return new ProblemError("payload_too_large", {
    detail: `A batch in one JSON document has at most ${bodyBytesMax} bytes, uncompressed. NDJSON for the request and the response has no such limit.`,
  });
}

function tooMany(): ProblemError {
  return new ProblemError("batch_too_large", {
    detail: `The batch has more than ${batchQuestionsMax} items; the limit is ${batchQuestionsMax} in one JSON document.`,
  });
}

function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalidBody([{ location: lineOfBadBytes(bytes), code: "invalid_body", message: "is not UTF-8" }]);
  // A byte order mark may be ignored (RFC 8259 §8.1).
  return bytes.toString().replace(/^\ufeff/, "");
}

/** A longer document is not read a second time to say more about what is wrong with it. */
const explainedMax = 16_384;

/** What is wrong with a text that is not `{"questions": […]}`. @param fault where that shows; null: at its beginning. */
function documentProblem(text: string, fault: JsonFault | null): ProblemError {
  const document = text.length > explainedMax ? undefined : parsed(text);
  const faults = document === undefined ? [] : memberFaults(document);
  if (faults.length > 0) return invalidBody(faults, "is not a batch");
  const place = fault ?? (document === undefined && text.length <= explainedMax ? jsonFault(text) : null);
  if (place === null) return invalidBody([notDocument], "is not a batch");
  return invalidBody([{ location: `line ${place.line}, column ${place.column}`, code: "invalid_body", message: place.message }]);
}

const notDocument: ProblemItem = { location: "body", code: "invalid_body", message: 'is not an object like {"questions": […]}' };

/** What is wrong with the members of a document. */
function memberFaults(document: unknown): readonly ProblemItem[] {
  if (typeof document !== "object" || document === null || Array.isArray(document)) return [notDocument];
  const fault = (location: string, message: string): ProblemItem => ({ location, code: "invalid_body", message });
  const { questions } = document as { readonly questions?: unknown };
  const unknown = Object.keys(document)
    .filter((name) => name !== "questions")
    .slice(0, 8);
  const faults = unknown.map((name) => fault(quoteValue(name), "is unknown; the only member of the body is questions"));
  if (!Array.isArray(questions)) faults.push(fault("questions", questions === undefined ? "is missing" : "is not a list"));
  return faults;
}

function invalidBody(errors: readonly ProblemItem[], what = "cannot be parsed"): ProblemError {
  const [first] = errors;
  return new ProblemError("invalid_body", {
    ...(first === undefined ? {} : { detail: `The body ${what}: ${first.location}: ${first.message}.` }),
    errors,
  });
}

function lineOfBadBytes(bytes: Buffer): string {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    const next = end < 0 ? bytes.length : end + 1;
    if (!isUtf8(bytes.subarray(start, next))) return `line ${line}`;
    start = next;
  }
  return "body";
}
