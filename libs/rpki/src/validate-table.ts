/** Origin validation of a whole sorted route table: one walk over routes and VRPs side by side. */
// Entries and indices stay below the arrays' lengths, so `!` on an element only drops `undefined` from its type.

import type { Ipv4Columns, Ipv6Columns, PrefixColumns } from "@netfacts/prefix-trie";
import type { VrpSet } from "./vrp-set.ts";

/** Announced prefixes in preorder and the origins of prefix `i` at `start[i]` to `start[i + 1] - 1`. */
export interface RouteColumns {
  readonly prefixes: PrefixColumns;
  /** One more than there are prefixes. */
  readonly start: Uint32Array;
  /** AS numbers; 0 for a path that ends in an AS_SET, which no VRP matches. */
  readonly origin: Uint32Array;
}

/**
 * The state (`originStates`) of every origin of every route, in the order of `routes.origin`.
 *
 * Both sides are sorted alike, so finding the covering VRPs of the next prefix goes on from those of the one before: no search at all.
 *
 * Cost: one step per route and per VRP prefix, and one per VRP that covers a route and is long enough; allocates only the answer.
 */
export function validateTable(vrps: VrpSet, routes: RouteColumns): Uint8Array {
  const states = new Uint8Array(routes.origin.length);
  validateIpv4(vrps, routes, states);
  validateIpv6(vrps, routes, states);
  return states;
}

/** Leading bits of a word as a mask, by length 0–32. */
const netmask = Int32Array.from({ length: 33 }, (_, length) => (length === 0 ? 0 : -1 << (32 - length)));

function validateIpv4(vrps: VrpSet, routes: RouteColumns, states: Uint8Array): void {
  const { parent, columns } = vrps.trie.parts;
  const route: Ipv4Columns = routes.prefixes.ipv4;
  const vrp: Ipv4Columns = columns.ipv4;
  const count = vrp.address.length;
  const { start, origin } = routes;
  /** VRP prefixes that stand at or before the route's. */
  let passed = 0;
  for (let index = 0; index < route.address.length; index++) {
    const address = route.address[index]!;
    const length = route.length[index]!;
    while (passed < count && (vrp.address[passed]! < address || (vrp.address[passed] === address && vrp.length[passed]! <= length)))
      passed++;
    // What covers the route is the last prefix before it or one of that prefix's parents.
    let entry = passed - 1;
    while (entry >= 0 && ((vrp.address[entry]! ^ address) & netmask[vrp.length[entry]!]!) !== 0) entry = parent[entry]!;
    for (let at = start[index]!; at < start[index + 1]!; at++) states[at] = vrps.stateUnder(entry, length, origin[at]!);
  }
}

function validateIpv6(vrps: VrpSet, routes: RouteColumns, states: Uint8Array): void {
  const { parent, columns } = vrps.trie.parts;
  const route: Ipv6Columns = routes.prefixes.ipv6;
  const vrp: Ipv6Columns = columns.ipv6;
  const count = vrp.length.length;
  const entryOffset = columns.ipv4.length.length;
  const routeOffset = routes.prefixes.ipv4.length.length;
  const { start, origin } = routes;
  let passed = 0;
  for (let index = 0; index < route.length.length; index++) {
    const length = route.length[index]!;
    while (passed < count && standsAtOrBefore(vrp, passed, route, index)) passed++;
    let entry = passed === 0 ? -1 : entryOffset + passed - 1;
    while (entry >= 0 && !covers(vrp, entry - entryOffset, route, index)) entry = parent[entry]!;
    const row = routeOffset + index;
    for (let at = start[row]!; at < start[row + 1]!; at++) states[at] = vrps.stateUnder(entry, length, origin[at]!);
  }
}

function standsAtOrBefore(a: Ipv6Columns, aIndex: number, b: Ipv6Columns, bIndex: number): boolean {
  for (let word = 0; word < 4; word++) {
    const order = a.words[aIndex * 4 + word]! - b.words[bIndex * 4 + word]!;
    if (order !== 0) return order < 0;
  }
  return a.length[aIndex]! <= b.length[bIndex]!;
}

/** Whether the prefix of `a` holds that of `b`; it is not the longer one, as it stands before it or is its parent. */
function covers(a: Ipv6Columns, aIndex: number, b: Ipv6Columns, bIndex: number): boolean {
  const length = a.length[aIndex]!;
  for (let word = 0, bits = length; bits > 0; word++, bits -= 32) {
    const differing = a.words[aIndex * 4 + word]! ^ b.words[bIndex * 4 + word]!;
    if ((differing & netmask[Math.min(bits, 32)]!) !== 0) return false;
  }
  return true;
}
