/** Parent links and subtree ends of sorted prefixes, built and checked in one pass. */
// Indices stay below the arrays' lengths, so `!` on an element only drops `undefined` from its type.

import { type Ipv4Columns, type Ipv6Columns, type PrefixColumns, PrefixOrderError } from "./columns.ts";
import { netmask, sharedInt32, sharedUint32, wordMask } from "./words.ts";

/** For each entry; both families in one numbering. */
export interface Links {
  /** The next less specific entry, -1 when there is none. */
  readonly parent: Int32Array;
  /** One past the last more specific entry. */
  readonly end: Uint32Array;
}

/**
 * Links every entry. Throws `PrefixOrderError` at the first invalid prefix.
 *
 * Cost: one step per entry, each entry entered and left once; 8 bytes per entry.
 */
export function linkPrefixes({ ipv4, ipv6 }: PrefixColumns): Links {
  if (ipv4.address.length !== ipv4.length.length)
    throw new PrefixOrderError(4, Math.min(ipv4.address.length, ipv4.length.length), "columns");
  if (ipv6.words.length !== ipv6.length.length * 4)
    throw new PrefixOrderError(6, Math.min(ipv6.words.length >>> 2, ipv6.length.length), "columns");
  const size = ipv4.length.length + ipv6.length.length;
  const links = { parent: sharedInt32(size), end: sharedUint32(size) };
  linkIpv4(ipv4, links);
  linkIpv6(ipv6, ipv4.length.length, links);
  return links;
}

// The open entries at a point are `open` and its parents: the links themselves are the stack.
function linkIpv4({ address, length }: Ipv4Columns, { parent, end }: Links): void {
  let open = -1;
  for (let entry = 0; entry < address.length; entry++) {
    const start = address[entry]!;
    const bits = length[entry]!;
    if (bits > 32) throw new PrefixOrderError(4, entry, "length");
    if ((start & ~netmask[bits]!) !== 0) throw new PrefixOrderError(4, entry, "host-bits");
    if (entry > 0) {
      const order = start - address[entry - 1]! || bits - length[entry - 1]!;
      if (order <= 0) throw new PrefixOrderError(4, entry, order === 0 ? "duplicate" : "order");
    }
    while (open >= 0 && ((start ^ address[open]!) & netmask[length[open]!]!) !== 0) {
      end[open] = entry;
      open = parent[open]!;
    }
    parent[entry] = open;
    open = entry;
  }
  for (; open >= 0; open = parent[open]!) end[open] = address.length;
}

function linkIpv6({ words, length }: Ipv6Columns, offset: number, { parent, end }: Links): void {
  let open = -1;
  for (let index = 0; index < length.length; index++) {
    const entry = offset + index;
    const bits = length[index]!;
    if (bits > 128) throw new PrefixOrderError(6, index, "length");
    for (let word = 0; word < 4; word++)
      if ((words[index * 4 + word]! & ~wordMask(bits, word)) !== 0) throw new PrefixOrderError(6, index, "host-bits");
    if (index > 0) {
      const order = compareWords(words, index, index - 1) || bits - length[index - 1]!;
      if (order <= 0) throw new PrefixOrderError(6, index, order === 0 ? "duplicate" : "order");
    }
    while (open >= 0 && !startsInside(words, index, open - offset, length[open - offset]!)) {
      end[open] = entry;
      open = parent[open]!;
    }
    parent[entry] = open;
    open = entry;
  }
  for (; open >= 0; open = parent[open]!) end[open] = offset + length.length;
}

function compareWords(words: Uint32Array, a: number, b: number): number {
  for (let word = 0; word < 4; word++) {
    const order = words[a * 4 + word]! - words[b * 4 + word]!;
    if (order !== 0) return order;
  }
  return 0;
}

function startsInside(words: Uint32Array, inner: number, outer: number, bits: number): boolean {
  for (let word = 0; word < 4; word++)
    if (((words[inner * 4 + word]! ^ words[outer * 4 + word]!) & wordMask(bits, word)) !== 0) return false;
  return true;
}
