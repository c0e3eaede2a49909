/** Reads documents such as `{"roas": [{…}, …], "metadata": {…}}` that are too large for one value: their items become values one at a time. */

import { boundedContent } from "./bounded-content.ts";
import { type JsonSink, JsonSyntaxError, JsonTokenizer } from "./json-tokens.ts";
import { type SourceContent, SourceError } from "./reader-report.ts";

/** How a member is read: as an array whose items are passed one by one, or as one whole value. */
export type MemberKind = "items" | "whole";

export interface JsonItemsForm {
  /** The document's members that are read; all others are skipped. */
  readonly members: Readonly<Record<string, MemberKind>>;
  /** Names of inner members that are read, at any depth; all others are skipped. */
  readonly fields: readonly string[];
  /** The expected document, for messages about another one: "an rpki-client export". */
  readonly what: string;
}

/** Receives values as `JSON.parse` would return them, but only with the members that are read. Throw `SourceError` to refuse the document. */
export interface JsonItemsSink {
  /** @param fault  text to say what is wrong with the item, whatever its value; null: nothing is known to be. */
  item(member: string, value: unknown, offset: number, fault: string | null): void;
  whole(member: string, value: unknown, offset: number): void;
  /** Called for a member of kind "items" whose value is not an array; the value is skipped afterwards. */
  notItems(member: string, offset: number): void;
}

/** Most values in one item. No record of any format has more, and they would fill the memory. */
const itemValuesMax = 100_000;

/**
 * Reads one document, with its members in any order.
 *
 * @returns its length, the time it took, and the members that it had.
 * @throws SourceError with the byte if it is not JSON, is not an object, or has a member twice that is read, also within a whole value. An item that
 * has one twice is passed with that fault: where a part of the file is missing, one item may have the members of two.
 */
export async function readJsonItems(
  content: SourceContent,
  form: JsonItemsForm,
  sink: JsonItemsSink,
): Promise<{ bytes: number; seconds: number; seen: ReadonlySet<string>; byteOrderMark: boolean }> {
  const { chunks, meter } = boundedContent(content);
  const items = new JsonItems(content.file, form, sink);
  const tokens = new JsonTokenizer(items);
  try {
    for await (const chunk of chunks) tokens.feed(chunk);
    tokens.finish();
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new SourceError(content.file, { offset: error.offset }, error.message, { cause: error });
    throw error;
  }
  return { bytes: meter.bytes, seconds: meter.seconds(), seen: items.seen, byteOrderMark: tokens.byteOrderMark };
}

type Container = unknown[] | Record<string, unknown>;

class JsonItems implements JsonSink {
  readonly seen = new Set<string>();
  readonly #file: string;
  readonly #form: JsonItemsForm;
  readonly #sink: JsonItemsSink;
  /** 0: before the document, 1: in it, 2: in the array of a member. */
  #level: 0 | 1 | 2 = 0;
  /** Open containers that are skipped. */
  #skipped = 0;
  /** The current member; empty if it is skipped. */
  #member = "";
  #kind: MemberKind | null = null;
  /** The open containers of the current value, outermost first, and the field that the innermost one waits for. */
  readonly #open: Container[] = [];
  #field: string | null = null;
  #values = 0;
  #offset = 0;
  /** What is wrong with the current item. */
  #fault: string | null = null;

  constructor(file: string, form: JsonItemsForm, sink: JsonItemsSink) {
    this.#file = file;
    this.#form = form;
    this.#sink = sink;
  }

  beginObject(offset: number): void {
    if (this.#skipped > 0) this.#skipped++;
    else if (this.#level === 0) this.#level = 1;
    else this.#begin({}, offset);
  }

  endObject(_offset: number): void {
    this.#end();
  }

  beginArray(offset: number): void {
    if (this.#skipped > 0) this.#skipped++;
    else if (this.#level === 0) throw this.#refused(offset, `not ${this.#form.what}: the document is an array`);
    else if (this.#level === 1 && this.#open.length === 0 && this.#kind === "items") this.#level = 2;
    else this.#begin([], offset);
  }

  endArray(_offset: number): void {
    this.#end();
  }

  key(bytes: Uint8Array, start: number, end: number, plain: boolean, offset: number): void {
    if (this.#skipped > 0) return;
    const innermost = this.#open.at(-1);
    if (innermost !== undefined) {
      this.#field = plain
        ? fieldOf(this.#form.fields, bytes, start, end)
        : (named(this.#form.fields, text(bytes, start, end, false)) ?? null);
      if (this.#field !== null && Object.hasOwn(innermost, this.#field)) this.#repeated(this.#field, offset);
      return;
    }
    const name = text(bytes, start, end, plain);
    this.#kind = Object.hasOwn(this.#form.members, name) ? (this.#form.members[name] as MemberKind) : null;
    this.#member = this.#kind === null ? "" : name;
    if (this.#kind === null) return;
    if (this.seen.has(name)) throw this.#refused(offset, `"${name}" appears twice`);
    this.seen.add(name);
  }

  string(bytes: Uint8Array, start: number, end: number, plain: boolean, offset: number): void {
    if (this.#isWanted()) this.#scalar(text(bytes, start, end, plain), offset);
    else if (this.#level === 0) this.#scalar("", offset);
  }

  number(bytes: Uint8Array, start: number, end: number, offset: number): void {
    if (this.#isWanted()) this.#scalar(numberOf(bytes, start, end), offset);
    else if (this.#level === 0) this.#scalar(0, offset);
  }

  literal(value: true | false | null, offset: number): void {
    if (this.#isWanted() || this.#level === 0) this.#scalar(value, offset);
  }

  /** Whether the next value is used: skipped values need not become text. */
  #isWanted(): boolean {
    if (this.#skipped > 0 || this.#level === 0) return false;
    const innermost = this.#open.at(-1);
    if (innermost === undefined) return this.#level === 2 || this.#kind !== null;
    return Array.isArray(innermost) || this.#field !== null;
  }

  #scalar(value: unknown, offset: number): void {
    if (this.#level === 0) throw this.#refused(offset, `not ${this.#form.what}: the document is not an object`);
    if (this.#open.length > 0) this.#place(value, offset);
    else if (this.#level === 2) this.#sink.item(this.#member, value, offset, null);
    else if (this.#kind === "whole") this.#sink.whole(this.#member, value, offset);
    else this.#sink.notItems(this.#member, offset);
  }

  #begin(container: Container, offset: number): void {
    if (!this.#isWanted()) {
      this.#skipped = 1;
      return;
    }
    if (this.#open.length > 0) this.#place(container, offset);
    else if (this.#level === 1 && this.#kind === "items") {
      this.#sink.notItems(this.#member, offset);
      this.#skipped = 1;
      return;
    } else {
      this.#values = 0;
      this.#offset = offset;
      this.#fault = null;
    }
    this.#open.push(container);
    this.#field = null;
  }

  #end(): void {
    if (this.#skipped > 0) {
      this.#skipped--;
      return;
    }
    const value = this.#open.pop();
    this.#field = null;
    if (value === undefined) this.#level = this.#level === 2 ? 1 : 0;
    else if (this.#open.length === 0) {
      if (this.#level === 2) this.#sink.item(this.#member, value, this.#offset, this.#fault);
      else this.#sink.whole(this.#member, value, this.#offset);
    }
  }

  /** Puts a value into the innermost open container. */
  #place(value: unknown, offset: number): void {
    if (++this.#values > itemValuesMax) throw this.#refused(offset, `more than ${itemValuesMax} values in one item of "${this.#member}"`);
    const innermost = this.#open.at(-1);
    if (Array.isArray(innermost)) innermost.push(value);
    else if (innermost !== undefined && this.#field !== null) innermost[this.#field] = value;
  }

  #repeated(field: string, offset: number): void {
    if (this.#level !== 2) throw this.#refused(offset, `"${field}" appears twice in "${this.#member}"`);
    this.#fault ??= `${field} appears twice`;
  }

  #refused(offset: number, reason: string): SourceError {
    return new SourceError(this.#file, { offset }, reason);
  }
}

function named(fields: readonly string[], name: string): string | undefined {
  return fields.find((field) => field === name);
}

/** The field of that name, without making a string of the bytes; null if there is none. */
function fieldOf(fields: readonly string[], bytes: Uint8Array, start: number, end: number): string | null {
  search: for (const field of fields) {
    if (field.length !== end - start) continue;
    for (let index = 0; index < field.length; index++) if (bytes[start + index] !== field.charCodeAt(index)) continue search;
    return field;
  }
  return null;
}

function text(bytes: Uint8Array, start: number, end: number, plain: boolean): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start);
  return plain ? buffer.toString("latin1") : (JSON.parse(`"${buffer.toString("utf8")}"`) as string);
}

function numberOf(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] as number) - 0x30;
    // Signs, fractions, exponents, and more digits than a double holds exactly take the slow, exact way.
    if (digit < 0 || digit > 9 || end - start > 15) return Number(text(bytes, start, end, true));
    value = value * 10 + digit;
  }
  return value;
}

/** Whether a value is an object and not an array. Members that it lacks are undefined. */
export function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
