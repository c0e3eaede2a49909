/** The content of a map of address space: its square, the groups with their colours, and the prefixes in each cell. */

import { containsPrefix, makePrefix, type Prefix, parsePrefix } from "@netfacts/address";
import { bitsOf, blockAt } from "./hilbert.ts";

export interface MapItem {
  readonly prefix: string;
  readonly rpki: string | null;
  /** Its origins, as a short text. */
  readonly origin: string;
}

export interface MappedPrefix {
  readonly prefix: Prefix;
  /** Index of its group. */
  readonly group: number;
}

export interface MapGroup {
  readonly name: string;
  readonly prefixes: number;
}

export interface AddressMap {
  readonly prefixes: readonly MappedPrefix[];
  readonly groups: readonly MapGroup[];
}

export type Colouring = "rpki" | "origin";

/** Most groups of origins with their own colour; other origins are one more group. */
export const originGroupsMax = 5;
const rpkiOrder = ["valid", "invalid", "not-found"];

/**
 * The prefixes of an IP version, in the order of the list, with their groups: all RPKI states, or origins by their number of prefixes.
 *
 * @param unknown  name of the state if it is unknown; `rest`: name of the group of other origins.
 */
export function addressMap(
  items: readonly MapItem[],
  version: 4 | 6,
  colouring: Colouring,
  { unknown, rest }: { readonly unknown: string; readonly rest: string },
): AddressMap {
  const read = items.flatMap((item) => {
    const reading = parsePrefix(item.prefix);
    if (!reading.ok || reading.prefix.version !== version) return [];
    return [{ prefix: reading.prefix, name: colouring === "origin" ? item.origin : (item.rpki ?? unknown) }];
  });
  const counts = new Map<string, number>();
  for (const { name } of read) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = colouring === "rpki" ? [...rpkiOrder, unknown] : [...counts].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const own = colouring === "rpki" ? names : names.slice(0, originGroupsMax);
  const groupOf = new Map(names.map((name, index) => [name, Math.min(index, own.length)]));
  const groups = own.map((name) => ({ name, prefixes: counts.get(name) ?? 0 }));
  if (own.length < names.length)
    groups.push({ name: rest, prefixes: read.length - groups.reduce((sum, group) => sum + group.prefixes, 0) });
  return { groups, prefixes: read.map(({ prefix, name }) => ({ prefix, group: groupOf.get(name) ?? 0 })) };
}

/** The smallest square that contains all prefixes: a prefix of even length. Null if there are none. */
export function squareOf(prefixes: readonly Prefix[]): Prefix | null {
  let whole = prefixes[0];
  if (whole === undefined) return null;
  for (const prefix of prefixes) while (!containsPrefix(whole, prefix)) whole = shorter(whole, whole.length - 1);
  return shorter(whole, whole.length & ~1);
}

function shorter({ version, w0, w1, w2, w3 }: Prefix, length: number): Prefix {
  return makePrefix(version, w0, w1, w2, w3, length);
}

/** Levels of the curve in the square, at most `wanted`. */
export function orderOf({ version, length }: Prefix, wanted: number): number {
  return Math.min(wanted, ((version === 4 ? 32 : 128) - length) >> 1);
}

export interface MapCell {
  readonly block: Prefix;
  /** Index of the most specific prefix that contains the whole cell; -1: none. */
  readonly around: number;
  /** Number of prefixes of each group that are inside the cell and smaller. */
  readonly inside: readonly number[];
  /** Index of the first of them; -1: none. */
  readonly first: number;
}

/** The cells of the square, by their place on the curve. Cost: one step for each prefix, and for each cell that it contains. */
export function cellsOf(whole: Prefix, order: number, { prefixes, groups }: AddressMap): MapCell[] {
  const cells = Array.from({ length: 4 ** order }, (_, place) => ({
    block: blockAt(whole, order, place),
    around: -1,
    inside: groups.map(() => 0),
    first: -1,
  }));
  for (const [index, { prefix, group }] of prefixes.entries()) {
    if (containsPrefix(prefix, whole)) {
      for (const cell of cells) cell.around = index;
      continue;
    }
    if (!containsPrefix(whole, prefix)) continue;
    const place = bitsOf(prefix, whole.length, 2 * order);
    const below = prefix.length - whole.length - 2 * order;
    if (below <= 0) {
      for (const cell of cells.slice(place, place + 2 ** -below)) cell.around = index;
      continue;
    }
    const cell = cells[place];
    if (cell === undefined) continue;
    cell.inside[group] = (cell.inside[group] ?? 0) + 1;
    if (cell.first < 0) cell.first = index;
  }
  return cells;
}
