/** Section `routes`: every prefix with every origin and the number of peers that see it. */

import type { PrefixColumns } from "@netfacts/prefix-trie";
import { type Columns, checkAscending, checkBelow, checkLengths, checkRuns, type SectionFormat, SectionFormatError } from "../columns.ts";

/** What an origin's value is. */
export const originKind = {
  /** An AS number. */
  as: 0,
  /** The index of an AS_SET in the set columns. */
  asSet: 1,
  /** Nothing: the path names no origin and the peer's own AS is 0. */
  unknown: 2,
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
  /** Other peers that do. */
  origin_partial: "u16",
  /** The same of the prefix as a whole: the union cannot be summed from its origins. */
  prefix_full: "u16",
  prefix_partial: "u16",
  set_start: "u32",
  set_member: "u32",
  /** Ascending AS numbers that originate anything but a default route, and the runs of their entries. */
  as_number: "u32",
  as_start: "u32",
  /** Positions in the origin columns, ascending. */
  as_origin: "u32",
  /** The prefix entry of each of those positions. */
  as_entry: "u32",
} as const;

/**
 * Prefixes in preorder (IPv4, then IPv6, each by address and length); the origins of one prefix by full-feed peers
 * falling, other peers falling, then kind and value; AS_SET members ascending.
 */
export const routesFormat: SectionFormat<typeof columns> = { kind: "routes", version: 1, columns };
export type RoutesColumns = Columns<typeof columns>;

/** The prefixes of the section, as the trie takes them. */
export function routePrefixes(section: RoutesColumns): PrefixColumns {
  return {
    ipv4: { address: section.v4_address, length: section.v4_length },
    ipv6: { words: section.v6_words, length: section.v6_length },
  };
}

/** Refuses columns whose runs or references would lead outside them. The order of prefixes is the trie's to check. */
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
}

/** The index by AS must name what it stands for: an origin of this AS that belongs to this entry. */
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
