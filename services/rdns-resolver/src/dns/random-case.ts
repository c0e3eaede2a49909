/** Letters of a question in random case (draft-vixie-dnsext-dns0x20): the answer echoes them, and who only guesses does not know them. */

import { randomId } from "./random-id.ts";

/** A random id has so many bits. */
const bitsPerDraw = 16;

/** Changes letters from `start` up to, not including, `end`, where a name stands uncompressed: no length of a label is a letter. */
export function randomizeCase(bytes: Buffer, start: number, end: number): void {
  let bits = 0;
  let left = 0;
  for (let offset = start; offset < end; offset += 1) {
    // Within the message.
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
