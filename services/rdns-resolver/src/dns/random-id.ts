/** Ids of DNS messages: 16 random bits that nobody can foretell (RFC 5452 §9.2). */

import { randomFillSync } from "node:crypto";

/** Drawn many at a time, as each draw costs more than all the rest of a question. */
const drawn = new Uint16Array(1_024);
let used = drawn.length;

export function randomId(): number {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const id = drawn[used] as number;
  used += 1;
  return id;
}
