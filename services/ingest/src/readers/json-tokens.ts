/** A strict JSON tokenizer (RFC 8259) for documents too large to be one string: takes bytes in chunks, and returns tokens. */

import { isUtf8 } from "node:buffer";

/** Takes the tokens of one document in order. Bytes are valid only during the call. */
export interface JsonSink {
  beginObject(offset: number): void;
  endObject(offset: number): void;
  beginArray(offset: number): void;
  endArray(offset: number): void;
  /** The name of a member. `start` and `end` enclose the text between the quotes. `plain`: it is ASCII without escapes. */
  key(bytes: Uint8Array, start: number, end: number, plain: boolean, offset: number): void;
  string(bytes: Uint8Array, start: number, end: number, plain: boolean, offset: number): void;
  number(bytes: Uint8Array, start: number, end: number, offset: number): void;
  literal(value: true | false | null, offset: number): void;
}

/** Text that is not JSON, at a byte of the document. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
  readonly offset: number;

  constructor(offset: number, reason: string) {
    super(reason);
    this.offset = offset;
  }
}

/** Bounds of nesting and tokens: exports of validators nest four levels, and their longest string is a key of some hundred bytes. */
export const jsonDepthMax = 64;
export const jsonTokenBytesMax = 2 ** 20;

/** What may come next. */
const expecting = { value: 0, firstKey: 1, key: 2, colon: 3, firstElement: 4, commaOrEnd: 5, end: 6 } as const;
type Expecting = (typeof expecting)[keyof typeof expecting];

const expectations = [
  "a value",
  'a member name or "}"',
  "a member name",
  '":"',
  'a value or "]"',
  '"," or the end of the object or array',
  "the end of the document",
];

const byteOrderMark = [0xef, 0xbb, 0xbf] as const;

const literals = [
  { text: "true", value: true },
  { text: "false", value: false },
  { text: "null", value: null },
] as const;

/**
 * Call `feed` with every chunk, then `finish`. Both throw `JsonSyntaxError` at the first byte that no JSON document could have there. Strings with
 * bytes above ASCII must be UTF-8; lone surrogate escapes are accepted, as by `JSON.parse`.
 *
 * Cost: one look at each byte, one call per token; allocates only for tokens that span two chunks.
 */
export class JsonTokenizer {
  readonly #sink: JsonSink;
  /** 1: the level is an object; 0: an array. */
  readonly #levels = new Uint8Array(jsonDepthMax);
  #depth = 0;
  #expecting: Expecting = expecting.value;
  /** The unfinished token at the end of the last chunk. */
  #rest: Uint8Array = new Uint8Array(0);
  /** Room for an unfinished token and the chunk after it. It doubles, so that a token in many small chunks is not copied with each of them. */
  #room = Buffer.alloc(0);
  /** Offset in the document of the first byte of the current buffer. */
  #base = 0;
  /** Whether the document began with a UTF-8 byte order mark, which readers may ignore (RFC 8259 §8.1). */
  byteOrderMark = false;
  /** Whether the last scanned string is ASCII without escapes; of an unfinished one: whether it is so far. */
  #plain = true;
  /** The same without regard to escapes. */
  #ascii = true;
  /** Bytes of an unfinished string at the end of the last chunk that need no second look. */
  #scanned = 0;

  constructor(sink: JsonSink) {
    this.#sink = sink;
  }

  feed(piece: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? piece : this.#joined(piece);
    const consumed = this.#scan(bytes);
    if (consumed === bytes.length) this.#rest = new Uint8Array(0);
    else this.#rest = consumed === 0 && bytes !== piece ? bytes : Uint8Array.from(bytes.subarray(consumed));
    this.#base += consumed;
    if (this.#rest.length > jsonTokenBytesMax) throw new JsonSyntaxError(this.#base, `the token is longer than ${jsonTokenBytesMax} bytes`);
  }

  /** The unfinished token with the chunk after it. */
  #joined(piece: Uint8Array): Uint8Array {
    const length = this.#rest.length + piece.length;
    if (this.#room.length < length) {
      this.#room = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#room.length));
      this.#room.set(this.#rest);
    } else if (this.#rest.buffer !== this.#room.buffer) this.#room.set(this.#rest);
    this.#room.set(piece, this.#rest.length);
    return this.#room.subarray(0, length);
  }

  /** Call it once, after the last chunk. */
  finish(): void {
    const end = this.#base + this.#rest.length;
    if (this.#rest.length > 0) {
      // A number has no terminator: a byte that cannot be part of it ends it.
      const consumed = this.#scan(Buffer.concat([this.#rest, Uint8Array.of(0x20)]));
      if (consumed <= this.#rest.length) throw new JsonSyntaxError(end, "the document ends within a token");
    }
    if (this.#isAtRoot()) throw new JsonSyntaxError(end, "the document is empty");
    if (this.#expecting !== expecting.end)
      throw new JsonSyntaxError(end, `the document ends where ${expectations[this.#expecting]} is expected`);
  }

  /** Reads whole tokens. @returns the bytes of these and of the space between them. Indices stay below `length`: hence the `!`. */
  #scan(bytes: Uint8Array): number {
    const { length } = bytes;
    let at = 0;
    if (this.#base === 0 && !this.byteOrderMark && bytes[0] === byteOrderMark[0]) {
      if (length < byteOrderMark.length) return 0;
      if (byteOrderMark.every((byte, index) => bytes[index] === byte)) {
        this.byteOrderMark = true;
        at = byteOrderMark.length;
      }
    }
    while (at < length) {
      const byte = bytes[at]!;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        at++;
        continue;
      }
      const offset = this.#base + at;
      const expected = this.#expecting;
      switch (byte) {
        case 0x2c /* , */:
          if (expected !== expecting.commaOrEnd) throw this.#unexpected(bytes, at);
          this.#expecting = this.#levels[this.#depth - 1] === 1 ? expecting.key : expecting.value;
          at++;
          continue;
        case 0x3a /* : */:
          if (expected !== expecting.colon) throw this.#unexpected(bytes, at);
          this.#expecting = expecting.value;
          at++;
          continue;
        case 0x7d /* } */:
          if (!(expected === expecting.firstKey || (expected === expecting.commaOrEnd && this.#levels[this.#depth - 1] === 1)))
            throw this.#unexpected(bytes, at);
          this.#leave();
          this.#sink.endObject(offset);
          at++;
          continue;
        case 0x5d /* ] */:
          if (!(expected === expecting.firstElement || (expected === expecting.commaOrEnd && this.#levels[this.#depth - 1] === 0)))
            throw this.#unexpected(bytes, at);
          this.#leave();
          this.#sink.endArray(offset);
          at++;
          continue;
      }
      const isKey = expected === expecting.firstKey || expected === expecting.key;
      if (!(expected === expecting.value || expected === expecting.firstElement || (isKey && byte === 0x22)))
        throw this.#unexpected(bytes, at);
      if (byte === 0x22 /* " */) {
        const end = this.#endOfString(bytes, at);
        if (end < 0) return at;
        const plain = this.#plain;
        if (isKey) {
          this.#expecting = expecting.colon;
          this.#sink.key(bytes, at + 1, end - 1, plain, offset);
        } else {
          this.#expecting = this.#afterValue();
          this.#sink.string(bytes, at + 1, end - 1, plain, offset);
        }
        at = end;
      } else if (byte === 0x7b /* { */ || byte === 0x5b /* [ */) {
        const isObject = byte === 0x7b;
        if (this.#depth === jsonDepthMax) throw new JsonSyntaxError(offset, `nested deeper than ${jsonDepthMax}`);
        this.#levels[this.#depth++] = isObject ? 1 : 0;
        this.#expecting = isObject ? expecting.firstKey : expecting.firstElement;
        if (isObject) this.#sink.beginObject(offset);
        else this.#sink.beginArray(offset);
        at++;
      } else if (byte === 0x2d /* - */ || (byte >= 0x30 && byte <= 0x39)) {
        const end = this.#endOfNumber(bytes, at);
        if (end < 0) return at;
        this.#expecting = this.#afterValue();
        this.#sink.number(bytes, at, end, offset);
        at = end;
      } else {
        const end = this.#literal(bytes, at);
        if (end < 0) return at;
        at = end;
      }
    }
    return length;
  }

  #leave(): void {
    this.#depth--;
    this.#expecting = this.#afterValue();
  }

  #afterValue(): Expecting {
    return this.#depth === 0 ? expecting.end : expecting.commaOrEnd;
  }

  /** The index after the closing quote; −1 if the chunk ends first. */
  #endOfString(bytes: Uint8Array, start: number): number {
    const { length } = bytes;
    let plain = this.#scanned === 0 || this.#plain;
    let ascii = this.#scanned === 0 || this.#ascii;
    let at = start + 1 + this.#scanned;
    for (; at < length; at++) {
      const byte = bytes[at]!;
      if (byte === 0x22) {
        if (!ascii && !isUtf8(bytes.subarray(start + 1, at))) throw new JsonSyntaxError(this.#base + start, "the string is not UTF-8");
        this.#plain = plain;
        this.#scanned = 0;
        return at + 1;
      }
      if (byte === 0x5c /* \ */) {
        plain = false;
        if (at + 1 >= length) return this.#unfinished(at - start - 1, plain, ascii);
        const escaped = bytes[at + 1]!;
        if (escaped === 0x75 /* u */) {
          for (let digit = at + 2; digit < at + 6; digit++) {
            if (digit >= length) return this.#unfinished(at - start - 1, plain, ascii);
            if (!isHexDigit(bytes[digit]!))
              throw new JsonSyntaxError(this.#base + at, "an escape sequence without its four hexadecimal digits");
          }
          at += 5;
        } else if (isEscape(escaped)) at++;
        else throw new JsonSyntaxError(this.#base + at, "not an escape sequence of JSON");
      } else if (byte < 0x20) throw new JsonSyntaxError(this.#base + at, "a control character within a string");
      else if (byte >= 0x80) {
        ascii = false;
        plain = false;
      }
    }
    return this.#unfinished(at - start - 1, plain, ascii);
  }

  #unfinished(scanned: number, plain: boolean, ascii: boolean): -1 {
    this.#scanned = scanned;
    this.#plain = plain;
    this.#ascii = ascii;
    return -1;
  }

  /** The index after the number; −1 if the chunk ends first. */
  #endOfNumber(bytes: Uint8Array, start: number): number {
    let at = start;
    if (bytes[at] === 0x2d) at++;
    const whole = this.#digits(bytes, at);
    if (whole === bytes.length) return -1;
    if (whole === at) throw this.#unexpected(bytes, at);
    if (bytes[at] === 0x30 && whole > at + 1) throw new JsonSyntaxError(this.#base + at, "a number with a leading zero");
    at = whole;
    if (bytes[at] === 0x2e /* . */) {
      const fraction = this.#digits(bytes, at + 1);
      if (fraction === bytes.length) return -1;
      if (fraction === at + 1) throw this.#unexpected(bytes, fraction);
      at = fraction;
    }
    if (bytes[at] === 0x65 || bytes[at] === 0x45 /* e, E */) {
      at++;
      if (at < bytes.length && (bytes[at] === 0x2b || bytes[at] === 0x2d)) at++;
      const exponent = this.#digits(bytes, at);
      if (exponent === bytes.length) return -1;
      if (exponent === at) throw this.#unexpected(bytes, at);
      at = exponent;
    }
    return at;
  }

  /** The index of the first byte from `at` on that is not a digit. */
  #digits(bytes: Uint8Array, at: number): number {
    while (at < bytes.length && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++;
    return at;
  }

  #literal(bytes: Uint8Array, start: number): number {
    for (const { text, value } of literals) {
      if (bytes[start] !== text.charCodeAt(0)) continue;
      for (let index = 1; index < text.length; index++) {
        if (start + index >= bytes.length) return -1;
        if (bytes[start + index] !== text.charCodeAt(index)) throw this.#unexpected(bytes, start + index);
      }
      this.#expecting = this.#afterValue();
      this.#sink.literal(value, this.#base + start);
      return start + text.length;
    }
    throw this.#unexpected(bytes, start);
  }

  #unexpected(bytes: Uint8Array, at: number): JsonSyntaxError {
    const byte = bytes[at]!;
    const shown = byte > 0x20 && byte < 0x7f ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16).padStart(2, "0")}`;
    return new JsonSyntaxError(this.#base + at, `not JSON: ${shown} where ${expectations[this.#expecting]} is expected`);
  }

  /** Whether only white space was read so far. */
  #isAtRoot(): boolean {
    return this.#depth === 0 && this.#expecting === expecting.value;
  }
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** One of `"\/bfnrt`. */
function isEscape(byte: number): boolean {
  return (
    byte === 0x22 || byte === 0x5c || byte === 0x2f || byte === 0x62 || byte === 0x66 || byte === 0x6e || byte === 0x72 || byte === 0x74
  );
}
