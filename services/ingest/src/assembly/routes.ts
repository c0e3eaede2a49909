/** Builds section `routes` from the tables of any number of RIBs: full feeds, origins with their peers and upstreams, the index by AS. */

import { GrowableUint8, GrowableUint16, GrowableUint32, originKind, type RoutesColumns, release } from "@netfacts/snapshot";
import { type AsLinks, linksByRight } from "./as-links.ts";
import { type OriginColumns, OriginTally } from "./origin-tally.ts";
import { type PathFacts, pathOrigin, pathUpstream } from "./path-facts.ts";
import type { RibFamily } from "./rib-family.ts";
import { peersMax, type RibTable } from "./rib-pass.ts";

/** When a peer counts as carrying the full table of a family (docs/design/semantics.md#which-routes-count). */
export interface FullFeedRule {
  /** Share of the largest peer's prefixes. */
  readonly share: number;
  readonly min: { readonly ipv4: number; readonly ipv6: number };
}

export interface RoutesOptions {
  readonly fullFeed: FullFeedRule;
  /** Most upstreams that are kept for each origin of a prefix. */
  readonly upstreamsMax: number;
  /** Time of each table in Unix seconds; 0: unknown. */
  readonly tableTimes: readonly number[];
}

/** By origin: Unix seconds of the oldest and the newest table that has it; 0: no table has a time. */
export interface OriginTimes {
  readonly first: Uint32Array;
  readonly last: Uint32Array;
}

type LinkColumn = "link_left" | "link_right" | "link_paths" | "link_seen" | "link_by_right";
/** Columns that come from the history. */
export type SeenColumn = "origin_first_seen" | "origin_last_seen" | "seen_time" | "seen_as" | "seen_as_first" | "seen_as_last";

export interface MergedRoutes {
  readonly columns: Omit<RoutesColumns, LinkColumn | SeenColumn>;
  readonly times: OriginTimes;
  /** By table and peer: 1: a full feed of IPv4; 2: of IPv6; 3: both. */
  readonly peerFull: readonly Uint8Array[];
  readonly peersTotal: { readonly ipv4: number; readonly ipv6: number };
  readonly counts: {
    readonly ipv4: number;
    readonly ipv6: number;
    readonly origins: number;
    readonly as_set_origins: number;
    readonly peers: number;
  };
}

/**
 * Merges the tables prefix by prefix. The order of the tables affects only the numbers of AS_SETs; callers sort them by collector.
 *
 * Cost: a step per table and prefix, and one per route.
 *
 * @throws RangeError for more than 65,535 peers.
 */
export function mergeRoutes(tables: readonly RibTable[], { fullFeed, upstreamsMax, tableTimes }: RoutesOptions): MergedRoutes {
  const peers = tables.reduce((sum, table) => sum + table.peers.length, 0);
  if (peers > peersMax) throw new RangeError(`${peers} peers of ${tables.length} collectors; ${peersMax} can be distinguished`);
  const full4 = fullFeeds(
    tables.map(({ feedSize }) => feedSize.ipv4),
    fullFeed.share,
    fullFeed.min.ipv4,
  );
  const full6 = fullFeeds(
    tables.map(({ feedSize }) => feedSize.ipv6),
    fullFeed.share,
    fullFeed.min.ipv6,
  );
  const merge = new Merge(tables, upstreamsMax, tableTimes);
  const v4 = merge.family(1, "ipv4", full4);
  const v6 = merge.family(4, "ipv6", full6);
  const { origins } = merge;
  const kinds = origins.kind.view();
  const count = (flags: readonly Uint8Array[]) => flags.reduce((sum, list) => list.reduce((some, flag) => some + flag, sum), 0);
  origins.start.push(kinds.length);
  origins.upstreamStart.push(origins.upstreamAs.length);
  return {
    columns: {
      v4_address: v4.words,
      v4_length: v4.length,
      v6_words: v6.words,
      v6_length: v6.length,
      origin_start: origins.start.view(),
      origin_kind: kinds,
      origin_value: origins.value.view(),
      origin_full: origins.full.view(),
      origin_partial: origins.partial.view(),
      prefix_full: merge.prefixFull.view(),
      prefix_partial: merge.prefixPartial.view(),
      ...packSets(merge.sets),
      ...indexByAs(origins, (entry) => (entry < v4.length.length ? v4.length[entry] : v6.length[entry - v4.length.length]) === 0),
      origin_paths: origins.paths.view(),
      upstream_start: origins.upstreamStart.view(),
      upstream_as: origins.upstreamAs.view(),
      upstream_paths: origins.upstreamPaths.view(),
    },
    times: { first: origins.firstSeen.view(), last: origins.lastSeen.view() },
    peerFull: full4.map((flags, table) => flags.map((flag, peer) => flag | ((full6[table]?.[peer] ?? 0) << 1))),
    peersTotal: { ipv4: count(full4), ipv6: count(full6) },
    counts: {
      ipv4: v4.length.length,
      ipv6: v6.length.length,
      origins: kinds.length,
      as_set_origins: kinds.reduce((sum, kind) => (kind === originKind.asSet ? sum + 1 : sum), 0),
      peers,
    },
  };
}

/** The section's columns for pairs of adjacent ASes. */
export function linkColumns(links: AsLinks): Pick<RoutesColumns, LinkColumn> {
  return {
    link_left: links.left,
    link_right: links.right,
    link_paths: links.paths,
    link_seen: links.seen,
    link_by_right: linksByRight(links),
  };
}

/** One flag per table and peer; 1: a full feed of the family. Peers are compared with the largest one of all tables. */
function fullFeeds(sizes: readonly Uint32Array[], share: number, min: number): Uint8Array[] {
  const largest = sizes.reduce((most, list) => list.reduce((more, size) => Math.max(more, size), most), 0);
  return sizes.map((list) => Uint8Array.from(list, (size) => (size > 0 && size >= min && size / largest >= share ? 1 : 0)));
}

class Merge {
  readonly prefixFull = new GrowableUint16();
  readonly prefixPartial = new GrowableUint16();
  /** AS_SETs of all tables, each once. */
  readonly sets: (readonly number[])[] = [];
  readonly #tables: readonly RibTable[];
  readonly #tally: OriginTally;
  /** By table: maps its numbers of AS_SETs to those of `sets`. */
  readonly #setNumbers: readonly Uint32Array[];
  /** By table: number of its first peer among the peers of all tables. */
  readonly #firstPeer: readonly number[];
  readonly #times: readonly number[];

  constructor(tables: readonly RibTable[], upstreamsMax: number, times: readonly number[]) {
    this.#tables = tables;
    this.#times = times;
    this.#tally = new OriginTally(upstreamsMax);
    const numbers = new Map<string, number>();
    this.#setNumbers = tables.map(({ facts }) =>
      Uint32Array.from(facts.sets, (members) => {
        const key = members.join();
        const known = numbers.get(key);
        if (known !== undefined) return known;
        numbers.set(key, this.sets.length);
        return this.sets.push(members) - 1;
      }),
    );
    let peers = 0;
    this.#firstPeer = tables.map((table) => {
      peers += table.peers.length;
      return peers - table.peers.length;
    });
  }

  get origins(): OriginColumns {
    return this.#tally.columns;
  }

  family(size: 1 | 4, name: "ipv4" | "ipv6", full: readonly Uint8Array[]): { words: Uint32Array; length: Uint8Array } {
    const families = this.#tables.map((table) => table[name]);
    const words = new GrowableUint32();
    const lengths = new GrowableUint8();
    const next = new Uint32Array(families.length);
    const tally = this.#tally;
    for (;;) {
      const least = leastPrefix(families, next, size);
      if (least < 0) return { words: words.view(), length: lengths.view() };
      const first = families[least] as RibFamily;
      const firstAt = next[least] as number;
      for (let word = 0; word < size; word++) words.push(first.words[firstAt * size + word] as number);
      lengths.push(first.length[firstAt] as number);
      tally.begin();
      for (let table = least; table < families.length; table++) {
        const family = families[table] as RibFamily;
        const at = next[table] as number;
        if (table !== least && (at >= family.length.length || compareAt(family, at, first, firstAt, size) !== 0)) continue;
        this.#addRoutes(table, family, at, full[table] as Uint8Array);
        next[table] = at + 1;
      }
      tally.finish(this.prefixFull.length);
      this.prefixFull.push(tally.full);
      this.prefixPartial.push(tally.partial);
    }
  }

  #addRoutes(table: number, family: RibFamily, at: number, full: Uint8Array): void {
    const { facts, peers } = this.#tables[table] as RibTable;
    const { originKind: kinds, originValue, upstreamKind, upstream }: PathFacts = facts;
    const firstPeer = this.#firstPeer[table] as number;
    const time = this.#times[table] ?? 0;
    const tally = this.#tally;
    const end = family.start[at + 1] as number;
    for (let route = family.start[at] as number; route < end; route++) {
      const peer = family.peer[route] as number;
      const path = family.path[route] as number;
      let kind: number = originKind.as;
      let value = originValue[path] as number;
      if (kinds[path] === pathOrigin.set) {
        kind = originKind.asSet;
        value = this.#setNumbers[table]?.[value] as number;
      } else if (kinds[path] === pathOrigin.peer) {
        value = peers[peer]?.asn ?? 0;
        if (value === 0) kind = originKind.unknown;
      }
      const origin = tally.add(firstPeer + peer, full[peer] === 1, kind, value, time);
      const next = upstreamKind[path] as number;
      if (next === pathUpstream.as) tally.addUpstream(origin, upstream[path] as number);
      else if (next === pathUpstream.none) origin.paths++;
    }
  }
}

/** The table with the least next prefix, the first one if several have it; −1: all are at their end. */
function leastPrefix(families: readonly RibFamily[], next: Uint32Array, size: number): number {
  let least = -1;
  for (let table = 0; table < families.length; table++) {
    const family = families[table] as RibFamily;
    const at = next[table] as number;
    if (at >= family.length.length) continue;
    if (least < 0 || compareAt(family, at, families[least] as RibFamily, next[least] as number, size) < 0) least = table;
  }
  return least;
}

/** Order of two prefixes by address, then length. */
function compareAt(a: RibFamily, atA: number, b: RibFamily, atB: number, size: number): number {
  for (let word = 0; word < size; word++) {
    const difference = (a.words[atA * size + word] as number) - (b.words[atB * size + word] as number);
    if (difference !== 0) return difference;
  }
  return (a.length[atA] as number) - (b.length[atB] as number);
}

/** Sorts the origins by AS number, then place. Default routes do not count as prefixes of an AS. */
function indexByAs(
  origins: OriginColumns,
  isDefault: (entry: number) => boolean,
): Pick<RoutesColumns, "as_number" | "as_start" | "as_origin" | "as_entry"> {
  const kinds = origins.kind.view();
  const keys = new BigUint64Array(kinds.length);
  const halves = new Uint32Array(keys.buffer);
  let count = 0;
  for (let origin = 0; origin < kinds.length; origin++) {
    if (kinds[origin] !== originKind.as || isDefault(origins.entry.at(origin))) continue;
    // The number is in the upper half, so that the native sort orders by it first.
    halves[count * 2] = origin;
    halves[count * 2 + 1] = origins.value.at(origin);
    count++;
  }
  keys.subarray(0, count).sort();
  const numbers = new GrowableUint32();
  const start = new GrowableUint32();
  const asOrigin = new Uint32Array(count);
  const asEntry = new Uint32Array(count);
  for (let at = 0; at < count; at++) {
    const asn = halves[at * 2 + 1] as number;
    if (at === 0 || asn !== numbers.at(numbers.length - 1)) {
      numbers.push(asn);
      start.push(at);
    }
    asOrigin[at] = halves[at * 2] as number;
    asEntry[at] = origins.entry.at(asOrigin[at] as number);
  }
  start.push(count);
  release(keys);
  return { as_number: numbers.view(), as_start: start.view(), as_origin: asOrigin, as_entry: asEntry };
}

function packSets(sets: readonly (readonly number[])[]): { set_start: Uint32Array; set_member: Uint32Array } {
  const start = new Uint32Array(sets.length + 1);
  sets.forEach((members, set) => {
    start[set + 1] = (start[set] as number) + members.length;
  });
  return { set_start: start, set_member: Uint32Array.from(sets.flat()) };
}
