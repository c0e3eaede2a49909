/** One encoded prefix (RFC 4271 §4.3): length in bits u8, then as many bytes as the bits need. */

import { fault } from "./fault.ts";

/** The prefix that was read last, as words; host bits are zero. One instance serves a whole scan. */
export class Nlri {
  w0 = 0;
  w1 = 0;
  w2 = 0;
  w3 = 0;
  length = 0;
  /** True when bits past the length were set; they have no meaning (RFC 4271 §4.3). */
  masked = false;

  /** @returns the start of the next field, `fault.prefixLength` or `fault.recordOverrun`. */
  read(bytes: Uint8Array, start: number, end: number, bitsMax: 32 | 128): number {
    if (start >= end) return fault.recordOverrun;
    const length = bytes[start]!;
    if (length > bitsMax) return fault.prefixLength;
    const next = start + 1 + ((length + 7) >> 3);
    if (next > end) return fault.recordOverrun;
    this.length = length;
    this.masked = false;
    this.w0 = this.#word(bytes, start + 1, next, length);
    if (bitsMax === 128) {
      this.w1 = this.#word(bytes, start + 5, next, length - 32);
      this.w2 = this.#word(bytes, start + 9, next, length - 64);
      this.w3 = this.#word(bytes, start + 13, next, length - 96);
    } else {
      this.w1 = 0;
      this.w2 = 0;
      this.w3 = 0;
    }
    return next;
  }

  #word(bytes: Uint8Array, at: number, end: number, bits: number): number {
    if (bits <= 0) return 0;
    let word = bytes[at]! << 24;
    if (at + 1 < end) word |= bytes[at + 1]! << 16;
    if (at + 2 < end) word |= bytes[at + 2]! << 8;
    if (at + 3 < end) word |= bytes[at + 3]!;
    const kept = bits >= 32 ? word : word & (-1 << (32 - bits));
    if (kept !== word) this.masked = true;
    return kept >>> 0;
  }
}
