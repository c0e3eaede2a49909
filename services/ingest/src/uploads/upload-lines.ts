/** Splits an upload into lines, each with the place in the file at which it ends. */

import { crc32 } from "node:zlib";
import { lineBytesMax } from "../readers/lines.ts";

export interface UploadLine {
  /** The line without its break; valid until the next chunk is pushed. Null: it is longer than `lineBytesMax`. */
  readonly bytes: Uint8Array | null;
  /** Bytes from the beginning of the file to the end of the line, including its break. */
  readonly end: number;
  /** CRC-32 of these bytes; null: unknown, because that of earlier bytes is. */
  readonly checksum: number | null;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Holds at most one line; of a longer one, only its length. */
export class UploadLines {
  #position: number;
  #checksum: number | null;
  #rest: Buffer[] = [];
  #restLength = 0;

  /**
   * @param position  place in the file of the first byte that is pushed; a line begins there.
   * @param checksum  CRC-32 of the bytes before it; null: unknown.
   */
  constructor(position: number, checksum: number | null) {
    this.#position = position;
    this.#checksum = checksum;
  }

  /** Bytes after the last break. */
  get openLength(): number {
    return this.#restLength;
  }

  /** The lines that end in this chunk. */
  *push(piece: Uint8Array): Generator<UploadLine, void> {
    let start = 0;
    for (;;) {
      const end = piece.indexOf(lineFeed, start);
      if (end === -1) break;
      this.#pass(piece.subarray(start, end + 1));
      yield this.#line(piece.subarray(start, end));
      start = end + 1;
    }
    const rest = piece.subarray(start);
    this.#pass(rest);
    this.#restLength += rest.length;
    // A copy, because the chunk belongs to the caller.
    if (this.#restLength <= lineBytesMax) this.#rest.push(Buffer.from(rest));
    else this.#rest = [];
  }

  /** The line after the last break; null: there is none. */
  last(): UploadLine | null {
    return this.#restLength === 0 ? null : this.#line(new Uint8Array(0));
  }

  #pass(bytes: Uint8Array): void {
    this.#position += bytes.length;
    if (this.#checksum !== null) this.#checksum = crc32(bytes, this.#checksum);
  }

  #line(end: Uint8Array): UploadLine {
    const length = this.#restLength + end.length;
    const whole = this.#restLength === 0 ? end : Buffer.concat([...this.#rest, end]);
    this.#rest = [];
    this.#restLength = 0;
    const bytes = whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole;
    return { bytes: length > lineBytesMax ? null : bytes, end: this.#position, checksum: this.#checksum };
  }
}
