/** IPv6 index of the first 32 bits, in steps of 16, 8 and 8; longer prefixes of one /32 form a run that is searched. */
// Indices stay below the arrays' lengths, so `!` on an element only drops `undefined` from its type.

import type { Ipv6Columns } from "./columns.ts";
import { sharedInt32, sharedUint32 } from "./words.ts";

/** With fewer IPv6 prefixes than this there is no index: searching all of them takes no more steps than the index would save. */
const indexedMin = 1024;

/**
 * Values: IPv6 index + 1 of the longest match within the first 32 bits; 0 = no match; a negative value is the complement of a page's number or, at
 * the last step, of a run's. All arrays are empty for small sets.
 */
export interface Ipv6Index {
  /** 2^16, by the upper 16 bits. */
  readonly root: Int32Array;
  /** 256 per page, by the next 8 bits; there is a page only where a prefix is longer. */
  readonly pages: Int32Array;
  /** First IPv6 index and one past the last, per /32 that holds longer prefixes. */
  readonly runs: Uint32Array;
  /** Second word of every prefix: a run differs there first, and sixteen of them share a cache line. */
  readonly second: Uint32Array;
}

/**
 * Builds the index in one sweep over the sorted prefixes. `parent` is the array of `Links`; its IPv6 part begins at `offset`.
 *
 * Size: 256 KiB, 1 KiB per /16 and per /24 that holds longer prefixes, 8 bytes per /32 that does, 4 bytes per prefix.
 */
export function buildIpv6Index(columns: Ipv6Columns, parent: Int32Array, offset: number): Ipv6Index {
  const { words, length } = columns;
  if (length.length < indexedMin) {
    return { root: sharedInt32(0), pages: sharedInt32(0), runs: sharedUint32(0), second: sharedUint32(0) };
  }
  const root = sharedInt32(2 ** 16);
  const pages = sharedInt32((countBlocks(columns, 16) + countBlocks(columns, 24)) * 256);
  const runs = sharedUint32(countBlocks(columns, 32) * 2);
  const second = sharedUint32(length.length);
  for (let index = 0; index < length.length; index++) second[index] = words[index * 4 + 1]!;
  let pageCount = 0;
  let runCount = 0;

  const pageOf = (table: Int32Array, slot: number): number => {
    if (table[slot] === 0) table[slot] = ~pageCount++;
    return ~table[slot]! * 256;
  };
  const paint = (from: number, to: number, value: number): void => {
    for (let at = from; at < to; ) {
      if (at % 2 ** 16 === 0 && to - at >= 2 ** 16) {
        root[at >>> 16] = value;
        at += 2 ** 16;
        continue;
      }
      const slot = pageOf(root, at >>> 16) + ((at >>> 8) & 255);
      if (at % 2 ** 8 === 0 && to - at >= 2 ** 8) {
        pages[slot] = value;
        at += 2 ** 8;
        continue;
      }
      pages[pageOf(pages, slot) + (at & 255)] = value;
      at += 1;
    }
  };

  // Everything below `cursor` is painted; `open` and its parents are the prefixes of at most 32 bits that continue from there.
  let cursor = 0;
  let open = -1;
  for (let index = 0; index <= length.length; ) {
    const start = index < length.length ? words[index * 4]! : 2 ** 32;
    while (open >= 0) {
      const end = words[open * 4]! + 2 ** (32 - length[open]!);
      if (end > start) break;
      paint(cursor, end, open + 1);
      cursor = end;
      const above = parent[offset + open]!;
      open = above < 0 ? -1 : above - offset;
    }
    if (open >= 0) paint(cursor, start, open + 1);
    cursor = start;
    if (index === length.length || length[index]! <= 32) {
      open = index++;
      continue;
    }
    // All remaining prefixes with these 32 bits are longer: they form the run.
    const first = index;
    while (index < length.length && words[index * 4] === start) index++;
    runs[runCount * 2] = first;
    runs[runCount * 2 + 1] = index;
    paint(start, start + 1, ~runCount++);
    cursor = start + 1;
  }
  return { root, pages, runs, second };
}

/** Number of blocks of `bits` (at most 32) bits that hold longer prefixes. */
function countBlocks({ words, length }: Ipv6Columns, bits: number): number {
  let blocks = 0;
  let last = -1;
  for (let index = 0; index < length.length; index++) {
    if (length[index]! <= bits) continue;
    const block = words[index * 4]! >>> (32 - bits);
    if (block === last) continue;
    last = block;
    blocks++;
  }
  return blocks;
}
