/** Makes text of people and old programs readable: corrects wrong encodings, and counts the corrections. */

import { isAscii, isUtf8 } from "node:buffer";

const windows1252 = new TextDecoder("windows-1252");
const lettersOfBytes = Array.from({ length: 256 }, (_, byte) => windows1252.decode(Uint8Array.of(byte)));
const bytesOfLetters = new Map(lettersOfBytes.map((letter, byte) => [letter, byte]));

/** Most rounds of decoding: a text that was encoded twice is sometimes encoded a third time. */
const roundsMax = 3;

/** Decodes the texts of one source, and counts those that had to be corrected. */
export class ReadableText {
  #notUtf8 = 0;
  #twice = 0;
  #nuls = 0;
  /** Whether the source began with a UTF-8 byte order mark. */
  byteOrderMark = false;

  /**
   * The text of a line. Bytes that are not UTF-8 are read as windows-1252 (which includes Latin-1); the rest of the line is read as UTF-8. Then as
   * `mend`.
   *
   * @param first  whether it is the first line, which may begin with a byte order mark.
   */
  decode(bytes: Uint8Array, first = false): string {
    let buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (first && buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) {
      this.byteOrderMark = true;
      buffer = buffer.subarray(3);
    }
    if (isAscii(buffer)) return this.#withoutNuls(buffer.toString("latin1"));
    if (isUtf8(buffer)) return this.mend(buffer.toString("utf8"));
    this.#notUtf8++;
    return this.mend(decodeMixed(buffer));
  }

  /** Removes NULs. Corrects UTF-8 text that was taken for windows-1252 or Latin-1 and encoded again (`CafÃ©` for `Café`). */
  mend(text: string): string {
    let mended = this.#withoutNuls(text);
    const once = decodedAgain(mended);
    if (once === null) return mended;
    this.#twice++;
    mended = once;
    for (let round = 1; round < roundsMax; round++) mended = decodedAgain(mended) ?? mended;
    return mended;
  }

  #withoutNuls(text: string): string {
    if (!text.includes("\0")) return text;
    this.#nuls++;
    return text.replaceAll("\0", "");
  }

  /** The corrections, for the report. */
  notes(): string[] {
    const notes = this.byteOrderMark ? ["begins with a byte order mark"] : [];
    if (this.#notUtf8 > 0) notes.push(`lines that are not UTF-8, read as windows-1252: ${this.#notUtf8}`);
    if (this.#twice > 0) notes.push(`texts that were encoded twice, corrected: ${this.#twice}`);
    if (this.#nuls > 0) notes.push(`texts with NUL characters, removed: ${this.#nuls}`);
    return notes;
  }
}

/** Reads sequences of UTF-8 as UTF-8, and all other bytes as windows-1252. Cost: one look at each byte, whatever it is: they may come from anyone. */
function decodeMixed(buffer: Buffer): string {
  let text = "";
  let start = 0;
  for (let at = 0; at < buffer.length; ) {
    const length = sequenceLength(buffer, at);
    if (length === 0) {
      if (start < at) text += buffer.toString("utf8", start, at);
      text += lettersOfBytes[buffer[at] as number] as string;
      start = at + 1;
    }
    at += length || 1;
  }
  return text + buffer.toString("utf8", start);
}

/** Bytes of the UTF-8 sequence that begins there (RFC 3629 §4); 0: there is none. */
function sequenceLength(buffer: Buffer, at: number): number {
  const first = buffer[at] as number;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const second = buffer[at + 1] ?? 0;
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  const secondMin = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const secondMax = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < secondMin || second > secondMax) return 0;
  for (let next = at + 2; next < at + length; next++) if (((buffer[next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

/** The text whose UTF-8 bytes appear as letters of windows-1252 or Latin-1; null if it is no such text. */
function decodedAgain(text: string): string | null {
  const bytes = Buffer.allocUnsafe(text.length);
  let ascii = true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Text that was taken for Latin-1 has control characters where windows-1252 has letters.
    const byte = code < 0x100 ? code : bytesOfLetters.get(text[at] as string);
    if (byte === undefined) return null;
    bytes[at] = byte;
    if (code >= 0x80) ascii = false;
  }
  return ascii || !isUtf8(bytes) ? null : bytes.toString("utf8");
}
