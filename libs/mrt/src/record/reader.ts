/** Reads the fields of one record from its beginning to its end. Every read is bounded; a length field allocates nothing. */

import type { Address } from "@netfacts/address";
import { readU16, readU32 } from "../bytes.ts";
import { RecordFault } from "./record-fault.ts";

export class Reader {
  readonly bytes: Uint8Array;
  /** Position of the next field. */
  at: number;
  readonly end: number;

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  get left(): number {
    return this.end - this.at;
  }

  u8(): number {
    return this.bytes[this.skip(1)]!;
  }

  u16(): number {
    return readU16(this.bytes, this.skip(2));
  }

  u32(): number {
    return readU32(this.bytes, this.skip(4));
  }

  /** An AS number of two or four bytes. */
  asn(asBytes: 2 | 4): number {
    return asBytes === 4 ? this.u32() : this.u16();
  }

  address(version: 4 | 6): Address {
    const w0 = this.u32();
    if (version === 4) return { version: 4, w0, w1: 0, w2: 0, w3: 0 };
    return { version: 6, w0, w1: this.u32(), w2: this.u32(), w3: this.u32() };
  }

  /** The next `length` bytes as a separate reader. */
  sub(length: number): Reader {
    const start = this.skip(length);
    return new Reader(this.bytes, start, start + length);
  }

  /** The rest, as hexadecimal digits. */
  hex(): string {
    const start = this.skip(this.left);
    return Buffer.from(this.bytes.buffer, this.bytes.byteOffset + start, this.end - start).toString("hex");
  }

  /** Skips `length` bytes. @returns their position. */
  skip(length: number): number {
    const start = this.at;
    if (length > this.end - start) {
      throw new RecordFault("overrun", start, `expected ${length} more bytes, but ${this.end - start} are left`);
    }
    this.at = start + length;
    return start;
  }

  /** Checks that exactly `length` bytes are left. */
  exactly(length: number, what: string): void {
    if (this.left !== length) throw new RecordFault("bad-length", this.at, `${what} has ${this.left} bytes, not ${length}`);
  }

  /** Checks that nothing is left. */
  done(what: string): void {
    if (this.at !== this.end) throw new RecordFault("trailing-bytes", this.at, `${what} has ${this.left} bytes after its last field`);
  }
}
