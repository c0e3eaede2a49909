/** Splits a stream of chunks into MRT records (RFC 6396 §2) in place; only a record that spans chunks is copied, once. */

import { readU16, readU32 } from "./bytes.ts";
import { describeRecord, headerBytes } from "./header.ts";
import { MrtError } from "./mrt-error.ts";

/** The largest record of real tables is below 1 MiB; a header with a greater length is not a header. */
export const recordBytesMaxDefault = 16 * 1024 * 1024;

/** Takes one record; its body is `start`…`end` of `bytes`, valid during the call only. `offset` is the position of its header in the stream. */
export type TakeRecord = (
  bytes: Uint8Array,
  start: number,
  end: number,
  timestamp: number,
  type: number,
  subtype: number,
  offset: number,
) => void;

export class RecordStream {
  readonly #name: string;
  readonly #recordBytesMax: number;
  readonly #take: TakeRecord;
  /** The beginning of a record that continues in a later chunk. Grows with the received bytes, never with the length in a header. */
  #carry = new Uint8Array(64 * 1024);
  #carried = 0;
  /** Position of the next record in the stream. */
  #offset = 0;

  constructor(name: string, recordBytesMax: number, take: TakeRecord) {
    this.#name = name;
    this.#recordBytesMax = recordBytesMax;
    this.#take = take;
  }

  /** Total size of all records so far. */
  get offset(): number {
    return this.#offset;
  }

  push(chunk: Uint8Array): void {
    // All arrays of the scan have one hidden class: a Buffer would make its loads polymorphic.
    const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = this.#carried > 0 ? this.#completeCarry(bytes) : 0;
    while (at + headerBytes <= bytes.length) {
      const size = this.#recordSize(bytes, at);
      if (at + size > bytes.length) break;
      this.#emit(bytes, at, size);
      at += size;
    }
    if (at < bytes.length) this.#keep(bytes, at, bytes.length);
  }

  end(): void {
    if (this.#carried === 0) return;
    const size = this.#carried < headerBytes ? "inside its header" : `which has ${this.#recordSize(this.#carry, 0)} bytes`;
    throw new MrtError("truncated", this.#name, this.#offset, `the input ends ${this.#carried} bytes into a record, ${size}`);
  }

  /** @returns the number of bytes that belong to the record in `#carry`. */
  #completeCarry(bytes: Uint8Array): number {
    let at = Math.min(bytes.length, Math.max(0, headerBytes - this.#carried));
    this.#keep(bytes, 0, at);
    if (this.#carried < headerBytes) return at;
    const size = this.#recordSize(this.#carry, 0);
    const end = Math.min(bytes.length, at + size - this.#carried);
    this.#keep(bytes, at, end);
    at = end;
    if (this.#carried === size) {
      this.#carried = 0;
      this.#emit(this.#carry, 0, size);
    }
    return at;
  }

  #keep(bytes: Uint8Array, start: number, end: number): void {
    const needed = this.#carried + end - start;
    if (needed > this.#carry.length) {
      const grown = new Uint8Array(Math.max(needed, 2 * this.#carry.length));
      grown.set(this.#carry.subarray(0, this.#carried));
      this.#carry = grown;
    }
    this.#carry.set(bytes.subarray(start, end), this.#carried);
    this.#carried = needed;
  }

  #recordSize(bytes: Uint8Array, at: number): number {
    const length = readU32(bytes, at + 8);
    if (length > this.#recordBytesMax) {
      const kind = describeRecord(readU16(bytes, at + 4), readU16(bytes, at + 6));
      const claim = `the header (${kind}) claims ${length} bytes, more than the limit of ${this.#recordBytesMax}`;
      const detail = this.#offset === 0 && kind.startsWith("unknown type") ? `not MRT data: ${claim}` : claim;
      throw new MrtError("bad-header", this.#name, this.#offset, detail);
    }
    return headerBytes + length;
  }

  #emit(bytes: Uint8Array, at: number, size: number): void {
    this.#take(bytes, at + headerBytes, at + size, readU32(bytes, at), readU16(bytes, at + 4), readU16(bytes, at + 6), this.#offset);
    this.#offset += size;
  }
}
