/** Lines of an NDJSON body, out of pieces that end anywhere. */

import { isAscii, isUtf8 } from "node:buffer";
import { ProblemError } from "@netfacts/contracts";

/** Longest line in bytes, its end not counted; a longer one is passed over without being held. */
export const lineBytesMax = 8_192;

/** Blank bytes between two lines that are not: more is no batch, but work for nothing. */
const blankBytesMax = 65_536;

/** A line that has not ended by then is no line. */
const endlessBytes = 1 << 20;

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const blank = 0x20;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

export interface Line {
  /** Of all lines, blank ones too, from 1. */
  readonly number: number;
  readonly bytes: number;
  /** Null: there is none to read, and `fault` says why. */
  readonly text: string | null;
  readonly fault: string;
}

/** Splits at LF or CRLF; blank lines are passed over, and a byte order mark at the very beginning too. */
export class LineSplitter {
  /** The beginning of a line whose end has not come. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #number = 1;
  #blankBytes = 0;

  /** @throws ProblemError after too many blank bytes, or in a line without end. */
  *push(piece: Buffer): Generator<Line> {
    let start = 0;
    if (this.#heldBytes > 0) {
      const end = piece.indexOf(lineFeed);
      if (end >= 0) {
        start = end + 1;
        const line = this.#end(piece.subarray(0, end));
        if (line !== null) yield line;
      }
    }
    if (this.#heldBytes === 0 && isAscii(piece)) start += yield* this.#wholeLines(piece.subarray(start));
    for (let end = piece.indexOf(lineFeed, start); end >= 0; end = piece.indexOf(lineFeed, start)) {
      const line = this.#end(piece.subarray(start, end));
      start = end + 1;
      if (line !== null) yield line;
    }
    if (start < piece.length) this.#hold(piece.subarray(start));
  }

  /**
   * The lines that nearly all are: of ASCII, neither blank nor long. They are cut out of one text, which costs half as much as each by
   * itself. Ends before the first that is another.
   *
   * @returns where that begins.
   */
  *#wholeLines(piece: Buffer): Generator<Line, number> {
    const text = piece.toString("latin1");
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      // A blank at either end is for the slow way.
      if (end - start > lineBytesMax || !(text.charCodeAt(start) > blank && text.charCodeAt(end - 1) > blank)) return start;
      yield this.#some({ number: this.#number++, bytes: end - start, text: text.slice(start, end), fault: "" });
      start = end + 1;
    }
    return start;
  }

  /** What is left where the last line has no end of its own. */
  end(): Line | null {
    return this.#end(Buffer.alloc(0));
  }

  #hold(rest: Buffer): void {
    this.#heldBytes += rest.length;
    if (this.#heldBytes > endlessBytes)
      throw new ProblemError("invalid_body", { detail: `Line ${this.#number} of the body is longer than ${endlessBytes} bytes.` });
    // Of a line that is too long only its length matters.
    if (this.#heldBytes > lineBytesMax + byteOrderMark.length + 1) this.#held = [];
    // A copy: the piece it is of may be much longer.
    else this.#held.push(Buffer.from(rest));
  }

  #end(rest: Buffer): Line | null {
    const length = this.#heldBytes + rest.length;
    let bytes = this.#heldBytes === 0 ? rest : Buffer.concat([...this.#held, rest]);
    this.#held = [];
    this.#heldBytes = 0;
    const number = this.#number++;
    if (number === 1 && bytes.subarray(0, 3).equals(byteOrderMark)) bytes = bytes.subarray(3);
    if (bytes.at(-1) === carriageReturn) bytes = bytes.subarray(0, -1);
    if (bytes.length > lineBytesMax || length > lineBytesMax + byteOrderMark.length + 1)
      return this.#some({ number, bytes: length, text: null, fault: `is longer than ${lineBytesMax} bytes` });
    if (isBlank(bytes)) {
      this.#boundBlanks(length + 1);
      return null;
    }
    if (isAscii(bytes)) return this.#some({ number, bytes: length, text: bytes.toString("latin1"), fault: "" });
    if (isUtf8(bytes)) return this.#some({ number, bytes: length, text: bytes.toString(), fault: "" });
    return this.#some({ number, bytes: length, text: null, fault: "is not UTF-8" });
  }

  #some(line: Line): Line {
    this.#blankBytes = 0;
    return line;
  }

  #boundBlanks(bytes: number): void {
    this.#blankBytes += bytes;
    if (this.#blankBytes > blankBytesMax)
      throw new ProblemError("invalid_body", {
        detail: `The body has more than ${blankBytesMax} bytes of whitespace at line ${this.#number}.`,
      });
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== carriageReturn) return false;
  return true;
}
