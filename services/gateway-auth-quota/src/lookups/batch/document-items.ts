/** Items of a batch that is one JSON document, cut out of its text: each is parsed by itself, as `JSON.parse` of all may take 90 ms in one piece. */

import { type JsonFault, jsonFault, placeIn } from "./json-fault.ts";
import { lineBytesMax } from "./lines.ts";

/** A part of the document's text. */
export interface Span {
  readonly start: number;
  /** Behind its last character. */
  readonly end: number;
}

/** The text is not `{"questions": […]}`. */
export class DocumentFault extends Error {
  override readonly name = "DocumentFault";
  /** Null: no list of questions begins. */
  readonly fault: JsonFault | null;

  constructor(fault: JsonFault | null) {
    super(fault?.message ?? "no list of questions");
    this.fault = fault;
  }
}

const blanks = /[ \t\n\r]*/y;
const head = /[ \t\n\r]*\{[ \t\n\r]*"questions"[ \t\n\r]*:[ \t\n\r]*\[/y;

const nextMember = /,[ \t\n\r]*"questions"[ \t\n\r]*:/y;

const [quote, comma, backslash, openList, closeList, openObject, closeObject] = [0x22, 0x2c, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The items of the list, in order. They are not validated: what is no JSON is for the parser of the item to find.
 *
 * @throws DocumentFault where something else than such a document stands, once the items before it are taken.
 * Cost: one pass over the text, 2 ns a character; allocates nothing but the spans.
 */
export function* documentItems(text: string): Generator<Span, void> {
  head.lastIndex = 0;
  if (!head.test(text)) throw new DocumentFault(null);
  let at = pastBlanks(text, head.lastIndex);
  let isList = text.charCodeAt(at) !== closeList;
  while (isList) {
    const end = itemEnd(text, at);
    if (end === at) throw new DocumentFault(placeIn(text, at, "expected a value"));
    if (end === null) throw new DocumentFault(endlessFault(text, at));
    yield { start: at, end };
    at = pastBlanks(text, end);
    isList = text.charCodeAt(at) === comma;
    if (isList) at = pastBlanks(text, at + 1);
    else if (text.charCodeAt(at) !== closeList) throw new DocumentFault(placeIn(text, at, "expected a comma or ]"));
  }
  at = pastBlanks(text, at + 1);
  if (text.charCodeAt(at) !== closeObject) throw new DocumentFault(placeIn(text, at, memberFault(text, at)));
  at = pastBlanks(text, at + 1);
  if (at < text.length) throw new DocumentFault(placeIn(text, at, "expected the end of the text"));
}

/** What is wrong with what stands behind the list of questions. */
function memberFault(text: string, at: number): string {
  nextMember.lastIndex = at;
  return nextMember.test(text) ? "the member questions appears twice" : "expected }";
}

function pastBlanks(text: string, from: number): number {
  blanks.lastIndex = from;
  blanks.test(text);
  return blanks.lastIndex;
}

/** What is wrong with an item that does not end. For a long item, that is all: to look for more would take as long as to parse it. */
function endlessFault(text: string, start: number): JsonFault {
  const inside = text.length - start <= lineBytesMax ? jsonFault(text, start) : null;
  return inside ?? placeIn(text, text.length, "");
}

/** Behind the value that begins there, if it is one; null: its string or its brackets do not end. */
function itemEnd(text: string, start: number): number | null {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      at = stringEnd(text, at);
      if (depth === 0) return at < text.length ? at + 1 : null;
    } else if (char === openObject || char === openList) depth += 1;
    else if (char === closeObject || char === closeList) {
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (char === comma || char <= 0x20)) return at;
  }
  return null;
}

/** The place of the closing quote; the length of the text, or more, where there is none. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (let char = text.charCodeAt(at); at < text.length && char !== quote; char = text.charCodeAt(at)) at += char === backslash ? 2 : 1;
  return at;
}
