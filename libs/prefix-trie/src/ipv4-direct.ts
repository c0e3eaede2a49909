/** IPv4 longest match with two reads: a slot per /24, and a group of 256 for each /24 that holds longer prefixes (DIR-24-8). */
// Indices stay below the arrays' lengths, so `!` on an element only drops `undefined` from its type.

import type { Ipv4Columns } from "./columns.ts";
import { sharedInt32 } from "./words.ts";

/**
 * With at least this many IPv4 prefixes the table is worth its 64 MiB: a full routing table has more, a table of allocations, VRPs or observations
 * fewer.
 */
export const ipv4DirectMin = 524_288;

/** With more groups than this (64 MiB) the compact form is chosen, unless "direct" is requested. */
export const ipv4GroupsMax = 65_536;

/** Values: entry + 1; 0 = no match; a negative value in `slots` is the complement of a group's number. */
export interface Ipv4Direct {
  readonly form: "direct";
  /** 2^24, by the upper 24 bits. */
  readonly slots: Int32Array;
  /** 256 per group, by the lower 8 bits. */
  readonly groups: Int32Array;
}

/** Number of /24s that hold prefixes longer than /24. */
export function countIpv4Groups({ address, length }: Ipv4Columns): number {
  let groups = 0;
  let last = -1;
  for (let entry = 0; entry < length.length; entry++) {
    if (length[entry]! <= 24) continue;
    const slot = address[entry]! >>> 8;
    if (slot === last) continue;
    last = slot;
    groups++;
  }
  return groups;
}

/**
 * Builds the table in one sweep over the sorted prefixes: each slot is written once, and pages without prefixes are never touched. `parent` is the
 * array of `Links`.
 */
export function buildIpv4Direct(columns: Ipv4Columns, parent: Int32Array): Ipv4Direct {
  const { address, length } = columns;
  const slots = sharedInt32(2 ** 24);
  const groups = sharedInt32(countIpv4Groups(columns) * 256);
  let groupCount = 0;

  const paintGroup = (slot: number, from: number, to: number, value: number): void => {
    if (slots[slot] === 0) slots[slot] = ~groupCount++;
    const base = ~slots[slot]! * 256;
    for (let low = from; low < to; low++) groups[base + low] = value;
  };
  // Divisions, as `to` may be 2^32, which a signed shift turns into 0.
  const paint = (from: number, to: number, value: number): void => {
    if (from >= to) return;
    const last = Math.floor(to / 256);
    let slot = from >>> 8;
    if (slot === last) {
      paintGroup(slot, from & 255, to & 255, value);
      return;
    }
    if ((from & 255) !== 0) paintGroup(slot++, from & 255, 256, value);
    // Most ranges have few slots, for which a call of fill would take longer.
    if (last - slot > 64) slots.fill(value, slot, last);
    else while (slot < last) slots[slot++] = value;
    if ((to & 255) !== 0) paintGroup(last, 0, to & 255, value);
  };

  // Everything below `cursor` is painted; `open` and its parents are the prefixes that continue from there.
  let cursor = 0;
  let open = -1;
  for (let entry = 0; entry <= address.length; entry++) {
    const start = entry < address.length ? address[entry]! : 2 ** 32;
    for (; open >= 0; open = parent[open]!) {
      const end = address[open]! + 2 ** (32 - length[open]!);
      if (end > start) break;
      paint(cursor, end, open + 1);
      cursor = end;
    }
    if (open >= 0) paint(cursor, start, open + 1);
    cursor = start;
    open = entry;
  }
  return { form: "direct", slots, groups };
}
