/** Batches that are read as a whole: a JSON document, or lines that are to be answered as one. */

import { isUtf8 } from "node:buffer";
import { batchQuestionsMax, ProblemError, type ProblemItem } from "@netfacts/contracts";
import { quoteValue } from "../../edge/echo.ts";
import type { BodySource } from "./body-source.ts";
import { type Item, readItem, unreadableItem } from "./item-reader.ts";
import { jsonFault } from "./json-fault.ts";
import { type Line, LineSplitter } from "./lines.ts";

/** Longest body that is read as a whole, unpacked: a thousand questions of a kilobyte each. */
export const bodyBytesMax = 1 << 20;

/** Null: go on; else wait for the turn (`CallerTurns.next`). */
export type NextTurn = () => Promise<void> | null;

/**
 * @param meta  whether records have their `meta` where the item does not say.
 * @throws ProblemError, or what the source throws.
 */
export async function readDocument(source: Pick<BodySource, "next">, meta: boolean, nextTurn: NextTurn): Promise<Item[]> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for (let piece = await source.next(); piece !== null; piece = await source.next()) {
    bytes += piece.length;
    if (bytes > bodyBytesMax) throw bodyTooLarge();
    pieces.push(piece);
  }
  const items: Item[] = [];
  for (const value of questionsOf(parseDocument(Buffer.concat(pieces, bytes)))) {
    const turn = nextTurn();
    if (turn !== null) await turn;
    items.push(readItem(value, meta));
  }
  return items;
}

/** @throws ProblemError, or what the source throws. */
export async function readLines(source: Pick<BodySource, "next">, meta: boolean, nextTurn: NextTurn): Promise<Item[]> {
  const items: Item[] = [];
  let bytes = 0;
  const add = (line: Line) => {
    if (items.length === batchQuestionsMax) throw tooMany("more");
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
export function readLine({ text, number, fault }: Line, meta: boolean): Item {
  if (text === null) return unreadableItem(`${fault} (line ${number} of the body)`);
  let value: unknown;
  // Nobody reads the stack of the error, which costs more than the parsing.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    value = JSON.parse(text);
  } catch {
    const place = jsonFault(text);
    const where = place === null ? "" : ` at column ${place.column}: ${place.message}`;
    return unreadableItem(`is not JSON${where} (line ${number} of the body)`);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return readItem(value, meta);
}

export function bodyTooLarge(): ProblemError {
  return new ProblemError("payload_too_large", {
    detail: `A batch in one JSON document has at most ${bodyBytesMax} bytes, uncompressed. NDJSON for the request and the response has no such limit.`,
  });
}

function tooMany(count: number | "more"): ProblemError {
  return new ProblemError("batch_too_large", {
    detail: `The batch has ${count === "more" ? `more than ${batchQuestionsMax} items` : `${count} items; the limit is ${batchQuestionsMax}`} in one JSON document.`,
  });
}

function parseDocument(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw invalidBody([{ location: lineOfBadBytes(bytes), code: "invalid_body", message: "is not UTF-8" }]);
  // A byte order mark may be ignored (RFC 8259 §8.1).
  const text = bytes.toString().replace(/^\ufeff/, "");
  try {
    return JSON.parse(text);
  } catch {
    const fault = jsonFault(text);
    const location = fault === null ? "body" : `line ${fault.line}, column ${fault.column}`;
    throw invalidBody([{ location, code: "invalid_body", message: fault?.message ?? "is not JSON" }]);
  }
}

/** The list of items in a document; they themselves may be anything. */
function questionsOf(document: unknown): readonly unknown[] {
  const fault = (location: string, message: string): ProblemItem => ({ location, code: "invalid_body", message });
  if (typeof document !== "object" || document === null || Array.isArray(document))
    throw invalidBatch([fault("body", 'is not an object like {"questions": […]}')]);
  const { questions } = document as { readonly questions?: unknown };
  const unknown = Object.keys(document)
    .filter((name) => name !== "questions")
    .slice(0, 8);
  const faults = unknown.map((name) => fault(quoteValue(name), "is unknown; the only member of the body is questions"));
  if (!Array.isArray(questions)) faults.push(fault("questions", questions === undefined ? "is missing" : "is not a list"));
  if (faults.length > 0) throw invalidBatch(faults);
  const list = questions as readonly unknown[];
  if (list.length > batchQuestionsMax) throw tooMany(list.length);
  return list;
}

/** JSON that is no batch. */
function invalidBatch(errors: readonly ProblemItem[]): ProblemError {
  return invalidBody(errors, "is not a batch");
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
