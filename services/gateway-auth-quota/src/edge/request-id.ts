/** Request ids: the caller's if it is well-formed, else a ULID, which sorts by time. */

import { randomFillSync } from "node:crypto";
import { requestIdPattern } from "@netfacts/contracts";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/** Two characters for each value of ten bits. */
const pairs = Array.from({ length: 1_024 }, (_, number) => alphabet.charAt(number >>> 5) + alphabet.charAt(number & 31));

/** Random numbers for many ids: to draw 16 bytes takes as long as to draw 2,048. Ten bits of each number are used. */
const pool = new Uint16Array(1_024);
let used = pool.length;

/** The first ten characters of the last id: ids come in bursts, and all ids of a millisecond begin alike. */
let last = { now: -1, text: "" };

/** 48 bits of time and 80 random bits, in Crockford's base 32. */
export function newRequestId(now: number): string {
  if (now !== last.now) last = { now, text: timeText(now) };
  if (used + 8 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let id = last.text;
  for (const end = used + 8; used < end; used++) id += pairs[(pool[used] ?? 0) & 1_023];
  return id;
}

function timeText(now: number): string {
  let text = "";
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = alphabet.charAt(rest % 32) + text;
  return text;
}

/** The id of a request with this `X-Request-Id` header. */
export function requestIdOf(header: string | string[] | undefined, now: number): string {
  return typeof header === "string" && requestIdPattern.test(header) ? header : newRequestId(now);
}
