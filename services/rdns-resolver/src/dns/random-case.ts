/** Random case for the letters of a question (draft-vixie-dnsext-dns0x20): the answer echoes it, and a forger must guess it. */

import { randomId } from "./random-id.ts";

/** Bits of a random id. */
const bitsPerDraw = 16;

/** Changes letters of an uncompressed name from `start` to before `end`. Lengths of labels are never letters. */
export function randomizeCase(bytes: Buffer, start: number, end: number): void {
  let bits = 0;
  let left = 0;
  for (let offset = start; offset < end; offset += 1) {
    // The offset is within the message.
    const lower = bytes[offset]! | 0x20;
    if (lower < 0x61 || lower > 0x7a) continue;
    if (left === 0) {
      bits = randomId();
      left = bitsPerDraw;
    }
    if ((bits & 1) === 1) bytes[offset]! ^= 0x20;
    bits >>= 1;
    left -= 1;
  }
}
