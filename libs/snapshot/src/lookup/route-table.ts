/** The routes of a generation: base section and overlay, read by entry number. */

import { type Address, comparePrefixes } from "@netfacts/address";
import type { PrefixTrie } from "@netfacts/prefix-trie";
import { originKind, type RoutesColumns, tellsPaths, tellsSeen } from "../sections/routes.ts";
import { LayeredPrefixes } from "./layered-prefixes.ts";
import { type Neighbour, type NeighbourSummary, neighboursOf, summariseNeighbours } from "./neighbours.ts";

/** Number of peers that see something: full-feed peers, and others. */
export interface PeerCounts {
  readonly full: number;
  readonly partial: number;
}

/** One origin of a prefix. */
export interface RouteOrigin extends PeerCounts {
  /** null: an AS_SET, or a path that names no origin. */
  readonly asn: number | null;
  /** Members ascending; null unless the path ends in an AS_SET. */
  readonly asSet: readonly number[] | null;
}

/** The prefixes that an AS originates: one row each, in prefix order. Views of the section where possible. */
export interface OriginatedRows {
  readonly entry: Uint32Array;
  /** Peers that see the prefix with this origin: full-feed peers, and others. */
  readonly full: Uint16Array;
  readonly partial: Uint16Array;
}

/** The ASes next to an origin on the paths to a prefix. */
export interface Upstreams {
  /** Paths to the prefix and origin, including those without any upstream. 65,535 = that or more; so are the `paths` of items. */
  readonly paths: number;
  /** Most frequent first, then by number; as many as the importer keeps. */
  readonly items: readonly { readonly asn: number; readonly paths: number }[];
}

/** When something was seen over all tables imported so far, in Unix seconds; 0 = not known. */
export interface Seen {
  readonly first: number;
  readonly last: number;
}

/** A section and its trie. */
export interface RouteLayer {
  readonly columns: RoutesColumns;
  readonly trie: PrefixTrie;
}

/** Changes to a section: complete routes by prefix, or their withdrawal (one byte per entry, 1 = withdrawn). */
export interface RouteOverlay extends RouteLayer {
  readonly removed: Uint8Array;
}

/** Immutable; safe from any thread. Entry numbers are valid for this table only. */
export class RouteTable {
  readonly prefixes: LayeredPrefixes;
  readonly #base: RoutesColumns;
  readonly #overlay: RoutesColumns | null;
  readonly #baseSize: number;
  readonly #removed: Uint8Array;

  constructor(base: RouteLayer, overlay: RouteOverlay | null = null) {
    this.prefixes = new LayeredPrefixes(base.trie, overlay?.trie ?? null, overlay?.removed);
    this.#base = base.columns;
    this.#overlay = overlay?.columns ?? null;
    this.#baseSize = base.trie.size;
    this.#removed = overlay?.removed ?? new Uint8Array(0);
  }

  /** Peers that see the prefix as a whole: the union over its origins. */
  prefixCounts(entry: number): PeerCounts {
    const [columns, at] = this.#place(entry);
    return { full: columns.prefix_full[at] as number, partial: columns.prefix_partial[at] as number };
  }

  prefixFull(entry: number): number {
    const [columns, at] = this.#place(entry);
    return columns.prefix_full[at] as number;
  }

  /** Every origin of an entry, including AS_SETs, most seen first. */
  origins(entry: number): RouteOrigin[] {
    const [columns, at] = this.#place(entry);
    const list: RouteOrigin[] = [];
    const end = columns.origin_start[at + 1] as number;
    for (let origin = columns.origin_start[at] as number; origin < end; origin++) list.push(originAt(columns, origin));
    return list;
  }

  /** Number of origins of the prefix, including an unknown origin and without AS_SETs. */
  originCount(entry: number): number {
    const [columns, at] = this.#place(entry);
    const end = columns.origin_start[at + 1] as number;
    let count = 0;
    for (let origin = columns.origin_start[at] as number; origin < end; origin++)
      if (columns.origin_kind[origin] !== originKind.asSet) count++;
    return count;
  }

  /** Whether the AS is an origin of the entry. */
  hasOrigin(entry: number, asn: number): boolean {
    const [columns, at] = this.#place(entry);
    return originOf(columns, at, asn) >= 0;
  }

  /**
   * When the AS was first and last seen as an origin of the entry; null if the section has no times, or the AS is not an origin of the entry. For a
   * changed route, the times are those of the section.
   */
  seen(entry: number, asn: number): Seen | null {
    if (!tellsSeen(this.#base)) return null;
    const base = entry < this.#baseSize ? entry : this.prefixes.base.exact(this.prefixes.prefixAt(entry));
    const { origin_first_seen, origin_last_seen, seen_time } = this.#base;
    const origin = base < 0 ? -1 : originOf(this.#base, base, asn);
    if (origin < 0) return null;
    return { first: origin_first_seen[origin] as number, last: seen_time[origin_last_seen[origin] as number] as number };
  }

  /** When the AS was first and last seen to originate a prefix other than a default route, now or in the past; null: not known, or never. */
  seenAs(asn: number): Seen | null {
    const { seen_as, seen_as_first, seen_as_last } = this.#base;
    const at = searchAscending(seen_as, asn);
    return at < 0 ? null : { first: seen_as_first[at] as number, last: seen_as_last[at] as number };
  }

  /**
   * Entries that the AS originates, with the counts for this origin; without default routes.
   *
   * Cost: one search, then a step per prefix.
   */
  originatedBy(asn: number): OriginatedRows {
    const own = originatedRows(this.#base, asn);
    if (this.#overlay === null) return own;
    const over = originatedRows(this.#overlay, asn);
    const shown = [
      ...Array.from(own.entry, (entry, row) => ({ entry, prefix: this.prefixes.prefixAt(entry), rows: own, row })).filter(
        ({ entry, prefix }) => this.prefixes.exact(prefix) === entry,
      ),
      ...Array.from(over.entry, (at, row) => ({
        entry: this.#baseSize + at,
        prefix: this.prefixes.prefixAt(this.#baseSize + at),
        rows: over,
        row,
      })).filter(({ entry }) => this.#removed[entry - this.#baseSize] !== 1),
    ].sort((a, b) => comparePrefixes(a.prefix, b.prefix));
    return {
      entry: Uint32Array.from(shown, ({ entry }) => entry),
      full: Uint16Array.from(shown, ({ rows, row }) => rows.full[row] as number),
      partial: Uint16Array.from(shown, ({ rows, row }) => rows.partial[row] as number),
    };
  }

  /** The upstreams of an origin of the entry; null if the section has no upstreams, or the AS is not an origin of the entry. */
  upstreamsOf(entry: number, asn: number): Upstreams | null {
    const [columns, at] = this.#place(entry);
    const origin = tellsPaths(columns) ? originOf(columns, at, asn) : -1;
    if (origin < 0) return null;
    const items: { asn: number; paths: number }[] = [];
    const last = columns.upstream_start[origin + 1] as number;
    for (let item = columns.upstream_start[origin] as number; item < last; item++)
      items.push({ asn: columns.upstream_as[item] as number, paths: columns.upstream_paths[item] as number });
    return { paths: columns.origin_paths[origin] as number, items };
  }

  /** The neighbours of an AS in the section, without the overlay, ascending by number; null if the section has no neighbours of any AS. */
  neighboursOf(asn: number): Neighbour[] | null {
    return neighboursOf(this.#base, asn);
  }

  /** Counts of these neighbours, and the most frequent ones. */
  summariseNeighbours(asn: number, limit: number): NeighbourSummary | null {
    return summariseNeighbours(this.#base, asn, limit);
  }

  #place(entry: number): [RoutesColumns, number] {
    return entry < this.#baseSize ? [this.#base, entry] : [this.#overlay as RoutesColumns, entry - this.#baseSize];
  }
}

const noRows: OriginatedRows = { entry: new Uint32Array(0), full: new Uint16Array(0), partial: new Uint16Array(0) };

/** Rows of one layer, by the entry numbers of this layer. */
function originatedRows(columns: RoutesColumns, asn: number): OriginatedRows {
  const at = searchAscending(columns.as_number, asn);
  if (at < 0) return noRows;
  const [start, end] = [columns.as_start[at] as number, columns.as_start[at + 1] as number];
  const origins = columns.as_origin.subarray(start, end);
  const full = new Uint16Array(origins.length);
  const partial = new Uint16Array(origins.length);
  for (let row = 0; row < origins.length; row++) {
    const origin = origins[row] as number;
    full[row] = columns.origin_full[origin] as number;
    partial[row] = columns.origin_partial[origin] as number;
  }
  return { entry: columns.as_entry.subarray(start, end), full, partial };
}

/** The position of the AS among the origins of an entry of this layer; −1 when it is none. */
function originOf(columns: RoutesColumns, entry: number, asn: number): number {
  const end = columns.origin_start[entry + 1] as number;
  for (let origin = columns.origin_start[entry] as number; origin < end; origin++)
    if (columns.origin_kind[origin] === originKind.as && columns.origin_value[origin] === asn) return origin;
  return -1;
}

function originAt(columns: RoutesColumns, origin: number): RouteOrigin {
  const kind = columns.origin_kind[origin];
  const value = columns.origin_value[origin] as number;
  const full = columns.origin_full[origin] as number;
  const partial = columns.origin_partial[origin] as number;
  if (kind === originKind.as) return { asn: value, asSet: null, full, partial };
  if (kind === originKind.unknown) return { asn: null, asSet: null, full, partial };
  const members = columns.set_member.subarray(columns.set_start[value] as number, columns.set_start[value + 1] as number);
  return { asn: null, asSet: Array.from(members), full, partial };
}

/** The index of `value` in ascending unique numbers; -1 when it is not there. */
export function searchAscending(numbers: Uint32Array, value: number): number {
  let low = 0;
  let high = numbers.length - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = numbers[middle] as number;
    if (found === value) return middle;
    if (found < value) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}

/** The result of matching an address. */
export interface RouteMatch {
  /** The matching entry; -1 when no prefix except a default route holds the address. */
  readonly entry: number;
  /** Longer entries that too few full-feed peers see, longest first. */
  readonly lowVisibility: readonly number[];
  /** Whether only a default route holds the address. */
  readonly defaultOnly: boolean;
}

const noEntries: readonly number[] = [];

/**
 * Matches an address (docs/design/semantics.md#which-routes-count): the longest prefix that at least `peersMin` full-feed peers see, otherwise the
 * longest of all. A default route never matches.
 *
 * @param peersMin  full-feed peers that a match needs; 0 = any peer will do.
 */
export function matchRoute(table: RouteTable, address: Address, peersMin: number): RouteMatch {
  const { prefixes } = table;
  const longest = prefixes.longest(address);
  if (longest < 0) return { entry: -1, lowVisibility: noEntries, defaultOnly: false };
  if (prefixes.lengthAt(longest) === 0) return { entry: -1, lowVisibility: noEntries, defaultOnly: true };
  if (peersMin === 0 || table.prefixFull(longest) >= peersMin) return { entry: longest, lowVisibility: noEntries, defaultOnly: false };
  const passed: number[] = [];
  let entry = longest;
  while (entry >= 0 && prefixes.lengthAt(entry) > 0 && table.prefixFull(entry) < peersMin) {
    passed.push(entry);
    entry = prefixes.parent(entry);
  }
  if (entry < 0 || prefixes.lengthAt(entry) === 0) return { entry: longest, lowVisibility: noEntries, defaultOnly: false };
  return { entry, lowVisibility: passed, defaultOnly: false };
}
