/** IPv4 longest match with little memory: an index by the upper bits into the sorted entries, then a search and a walk up. */
// Indices stay below the arrays' lengths, so `!` on an element only drops `undefined` from its type.

import type { Ipv4Columns } from "./columns.ts";
import { sharedUint32 } from "./words.ts";

/** Limits the index to 256 KiB. */
const bitsMax = 16;

export interface Ipv4Compact {
  readonly form: "compact";
  /** Number of bits to shift an address right to get its slot; 16 except for small sets. */
  readonly shift: number;
  /** For each slot the first entry at or above it; one more item at the end. */
  readonly start: Uint32Array;
}

/** Builds the index in one pass; about one slot per two prefixes, at most 2^16. */
export function buildIpv4Compact({ address }: Ipv4Columns): Ipv4Compact {
  const bits = Math.min(bitsMax, Math.max(1, 31 - Math.clz32(address.length | 1)));
  const shift = 32 - bits;
  const start = sharedUint32(2 ** bits + 1);
  let slot = 0;
  for (let entry = 0; entry < address.length; entry++)
    for (const last = address[entry]! >>> shift; slot <= last; slot++) start[slot] = entry;
  start.fill(address.length, slot);
  return { form: "compact", shift, start };
}
