/** Section `routes`: every prefix with every origin and the number of peers that see it. */

import type { PrefixColumns } from "@netfacts/prefix-trie";
import {
  type Columns,
  checkAscending,
  checkBelow,
  checkLengths,
  checkRuns,
  checkTimes,
  type SectionFormat,
  SectionFormatError,
} from "../columns.ts";

/** Meaning of the value of an origin. */
export const originKind = {
  /** An AS number. */
  as: 0,
  /** The index of an AS_SET in the set columns. */
  asSet: 1,
  /** Nothing: the path names no origin and the peer's own AS is 0. */
  unknown: 2,
} as const;

/** How two ASes were seen next to each other on paths: bits of `link_seen`. */
export const linkSeen = {
  ipv4: 1,
  ipv6: 2,
  /** The left AS is not the first one on some path: it was seen in another place than as a collector's own peer. */
  within: 4,
} as const;

const columns = {
  v4_address: "u32",
  v4_length: "u8",
  v6_words: "u32",
  v6_length: "u8",
  /** Bounds of each prefix's run in the origin columns. */
  origin_start: "u32",
  origin_kind: "u8",
  origin_value: "u32",
  /** Full-feed peers that see the prefix with this origin. */
  origin_full: "u16",
  /** Other peers that see it with this origin. */
  origin_partial: "u16",
  /** The same counts for the prefix as a whole: the union cannot be computed from the counts of its origins. */
  prefix_full: "u16",
  prefix_partial: "u16",
  set_start: "u32",
  set_member: "u32",
  /** Ascending AS numbers that originate a prefix other than a default route, and the runs of their entries. */
  as_number: "u32",
  as_start: "u32",
  /** Positions in the origin columns, ascending. */
  as_origin: "u32",
  /** The prefix entry of each of those positions. */
  as_entry: "u32",
  /** Paths to each origin of a prefix: one per peer and AS path, without those that have sets, confederations or loops. 65,535 = that or more. */
  origin_paths: "u16",
  /** Bounds of each origin's run of upstreams: the ASes next to it on those paths, the most frequent first, then by number. */
  upstream_start: "u32",
  upstream_as: "u32",
  upstream_paths: "u16",
  /** Pairs of ASes next to each other on paths, ascending; left is towards the collector. */
  link_left: "u32",
  link_right: "u32",
  link_paths: "u32",
  link_seen: "u8",
  /** Positions of the pairs, ascending by (right, left). */
  link_by_right: "u32",
  /** When each origin was first seen, in Unix seconds; 0 = not known, as for every origin that is not an AS number. */
  origin_first_seen: "u32",
  /** When each origin was last seen, as an index in `seen_time`. That column ascends; its item 0 is 0, for "not known". */
  origin_last_seen: "u16",
  seen_time: "u32",
  /** ASes that originate a prefix other than a default route, or once did, ascending; the times of first and last sight in Unix seconds. */
  seen_as: "u32",
  seen_as_first: "u32",
  seen_as_last: "u32",
} as const;

/**
 * Prefixes in preorder (IPv4, then IPv6, each by address and length). The origins of one prefix are sorted by full-feed peers descending, other peers
 * descending, then kind and value; AS_SET members ascend.
 */
export const routesFormat: SectionFormat<typeof columns> = {
  kind: "routes",
  version: 1,
  columns,
  optional: [
    "origin_paths",
    "upstream_start",
    "upstream_as",
    "upstream_paths",
    "link_left",
    "link_right",
    "link_paths",
    "link_seen",
    "link_by_right",
    "origin_first_seen",
    "origin_last_seen",
    "seen_time",
    "seen_as",
    "seen_as_first",
    "seen_as_last",
  ],
};
export type RoutesColumns = Columns<typeof columns>;

/** The prefixes of the section, in the form of the trie. */
export function routePrefixes(section: RoutesColumns): PrefixColumns {
  return {
    ipv4: { address: section.v4_address, length: section.v4_length },
    ipv6: { words: section.v6_words, length: section.v6_length },
  };
}

/** Refuses columns with runs or references that lead out of bounds. The trie checks the order of prefixes. */
export function checkRoutes(section: RoutesColumns): void {
  const { kind } = routesFormat;
  const ipv4 = section.v4_length.length;
  const size = ipv4 + section.v6_length.length;
  const origins = section.origin_kind.length;
  const sets = Math.max(0, section.set_start.length - 1);
  checkLengths(kind, ipv4, { v4_address: section.v4_address });
  checkLengths(kind, section.v6_length.length * 4, { v6_words: section.v6_words });
  checkRuns(kind, "origin_start", section.origin_start, size, origins);
  const { origin_value, origin_full, origin_partial, prefix_full, prefix_partial } = section;
  checkLengths(kind, origins, { origin_value, origin_full, origin_partial });
  checkLengths(kind, size, { prefix_full, prefix_partial });
  checkRuns(kind, "set_start", section.set_start, sets, section.set_member.length);
  checkBelow(kind, "origin_kind", section.origin_kind, 3);
  for (let origin = 0; origin < origins; origin++)
    if (section.origin_kind[origin] === originKind.asSet) checkBelow(kind, "origin_value", origin_value.subarray(origin, origin + 1), sets);
  checkRuns(kind, "as_start", section.as_start, section.as_number.length, section.as_origin.length);
  checkLengths(kind, section.as_origin.length, { as_entry: section.as_entry });
  checkBelow(kind, "as_origin", section.as_origin, origins);
  checkBelow(kind, "as_entry", section.as_entry, size);
  checkAscending(kind, "as_number", section.as_number);
  checkAsIndex(section);
  checkUpstreams(section);
  checkLinks(section);
  checkSeen(section);
}

/** Whether the section has upstreams and neighbours: sections of earlier writers, and overlays, do not. */
export function tellsPaths(section: RoutesColumns): boolean {
  return section.upstream_start.length > 0;
}

/** Whether the section has the times of origins and ASes: sections of earlier writers, and overlays, do not. */
export function tellsSeen(section: RoutesColumns): boolean {
  return section.seen_time.length > 0;
}

function checkUpstreams(section: RoutesColumns): void {
  const { kind } = routesFormat;
  const { upstream_start, upstream_as, upstream_paths, origin_paths, origin_kind } = section;
  checkLengths(kind, upstream_as.length, { upstream_paths });
  if (!tellsPaths(section)) {
    checkLengths(kind, 0, { origin_paths, upstream_as });
    return;
  }
  checkLengths(kind, origin_kind.length, { origin_paths });
  checkRuns(kind, "upstream_start", upstream_start, origin_kind.length, upstream_as.length);
}

function checkLinks(section: RoutesColumns): void {
  const { kind } = routesFormat;
  const { link_left, link_right, link_paths, link_seen, link_by_right } = section;
  const links = tellsPaths(section) ? link_left.length : 0;
  checkLengths(kind, links, { link_left, link_right, link_paths, link_seen, link_by_right });
  checkBelow(kind, "link_by_right", link_by_right, links);
  for (let link = 1; link < links; link++) {
    if (order(link_left, link_right, link - 1, link) >= 0)
      throw new SectionFormatError(`section ${kind}: column link_left[${link}] is out of order`);
    if (order(link_right, link_left, link_by_right[link - 1] as number, link_by_right[link] as number) >= 0)
      throw new SectionFormatError(`section ${kind}: column link_by_right[${link}] is out of order`);
  }
}

function checkSeen(section: RoutesColumns): void {
  const { kind } = routesFormat;
  const { origin_first_seen, origin_last_seen, seen_time, seen_as, seen_as_first, seen_as_last } = section;
  const origins = tellsSeen(section) ? section.origin_kind.length : 0;
  const ases = tellsSeen(section) ? seen_as.length : 0;
  checkLengths(kind, origins, { origin_first_seen, origin_last_seen });
  checkLengths(kind, ases, { seen_as, seen_as_first, seen_as_last });
  checkBelow(kind, "origin_last_seen", origin_last_seen, seen_time.length);
  checkAscending(kind, "seen_time", seen_time);
  for (let origin = 0; origin < origins; origin++) {
    const last = seen_time[origin_last_seen[origin] as number] as number;
    if ((origin_first_seen[origin] as number) > last || (last > 0 && origin_first_seen[origin] === 0))
      throw new SectionFormatError(
        `section ${kind}: column origin_first_seen[${origin}] is ${origin_first_seen[origin]}, last seen ${last}`,
      );
  }
  checkAscending(kind, "seen_as", seen_as);
  checkTimes(kind, "seen_as_first", seen_as_first, seen_as_last);
}

function order(first: Uint32Array, second: Uint32Array, a: number, b: number): number {
  return (first[a] as number) - (first[b] as number) || (second[a] as number) - (second[b] as number);
}

/** Each item of the index by AS must refer to an origin with this AS that belongs to this entry. */
function checkAsIndex({ as_number, as_start, as_origin, as_entry, origin_start, origin_kind, origin_value }: RoutesColumns): void {
  for (let number = 0; number < as_number.length; number++) {
    const asn = as_number[number] as number;
    const end = as_start[number + 1] as number;
    for (let at = as_start[number] as number; at < end; at++) {
      const origin = as_origin[at] as number;
      const entry = as_entry[at] as number;
      const named = origin_kind[origin] === originKind.as && origin_value[origin] === asn;
      if (!named || origin < (origin_start[entry] as number) || origin >= (origin_start[entry + 1] as number))
        throw new SectionFormatError(`section routes: column as_origin[${at}] does not lead to an origin of AS${asn} in entry ${entry}`);
    }
  }
}
