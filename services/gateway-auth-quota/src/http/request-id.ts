/** Request ids: the caller's when it is well-formed, else a ULID, which sorts by time. */

import { randomFillSync } from "node:crypto";
import { requestIdPattern } from "@netfacts/contracts";

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** Random bytes are drawn for many ids at once: a draw costs as much for 16 bytes as for 2,048. */
const pool = new Uint8Array(2_048);
let used = pool.length;

/** 48 bits of time and 80 of chance, in Crockford's base 32. */
export function newRequestId(now: number): string {
  if (used + 16 > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let id = "";
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) id = alphabet.charAt(rest % 32) + id;
  for (let i = 0; i < 16; i++) id += alphabet.charAt((pool[used + i] ?? 0) & 31);
  used += 16;
  return id;
}

/** The id of a request by its `X-Request-Id` header. */
export function requestIdOf(header: string | string[] | undefined, now: number): string {
  return typeof header === "string" && requestIdPattern.test(header) ? header : newRequestId(now);
}
