/** Ids of DNS messages: 16 unpredictable random bits (RFC 5452 §9.2). */

import { randomFillSync } from "node:crypto";

/** Ids are drawn many at a time: a draw costs more than the rest of a question. */
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
