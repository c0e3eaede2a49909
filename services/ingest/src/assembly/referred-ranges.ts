/** The geofeed that counts for each address: that of the most specific range that refers to one (RFC 9632 §3). */

import { type Address, firstAddress, lastAddress, type Prefix, rangeToPrefixes } from "@netfacts/address";

/** An inclusive range of addresses that refers to a geofeed. */
interface Referring {
  readonly start: Address;
  readonly end: Address;
  readonly url: string;
  readonly lastModified: number;
}

/** An inclusive range, as numbers of one address family. */
interface Segment {
  readonly start: bigint;
  readonly end: bigint;
}

/** Disjoint, in ascending order. */
export interface Segments {
  readonly 4: Segment[];
  readonly 6: Segment[];
}

export type RangesByUrl = ReadonlyMap<string, Segments>;

/** An address as a number within its family. */
export function addressNumber({ version, w0, w1, w2, w3 }: Address): bigint {
  if (version === 4) return BigInt(w0);
  return (BigInt(w0) << 96n) | (BigInt(w1) << 64n) | (BigInt(w2) << 32n) | BigInt(w3);
}

function addressOf(version: 4 | 6, number: bigint): Address {
  const word = (shift: bigint) => Number((number >> shift) & 0xffff_ffffn);
  if (version === 4) return { version, w0: Number(number), w1: 0, w2: 0, w3: 0 };
  return { version, w0: word(96n), w1: word(64n), w2: word(32n), w3: word(0n) };
}

/**
 * The addresses for which each geofeed counts. Of the ranges that contain an address, the smallest counts; of equally large ones the last modified,
 * then the first.
 *
 * Cost: sorts the ranges; about 300 bytes each during the work.
 */
export function rangesByUrl(references: readonly Referring[]): RangesByUrl {
  const found = new Map<string, Segments>();
  for (const version of [4, 6] as const) {
    const ranges = references
      .filter(({ start }) => start.version === version)
      .map(({ start, end, url, lastModified }) => ({ start: addressNumber(start), after: addressNumber(end) + 1n, url, lastModified }));
    const size = ({ start, after }: { readonly start: bigint; readonly after: bigint }) => after - start;
    // Sorting is stable: equal ones keep their order.
    const mostSpecificFirst = ranges.toSorted((a, b) => compare(size(a), size(b)) || b.lastModified - a.lastModified);
    const bounds = [...new Set(ranges.flatMap(({ start, after }) => [start, after]))].sort(compare);
    const places = new Map(bounds.map((bound, place) => [bound, place]));
    const owners = new Array<string | null>(bounds.length).fill(null);
    // For each place, the first one from there on without an owner.
    const free = Uint32Array.from({ length: bounds.length + 1 }, (_, place) => place);
    const firstFree = (place: number): number => {
      let at = place;
      while (free[at] !== at) at = free[at] = free[free[at] as number] as number;
      return at;
    };
    for (const { start, after, url } of mostSpecificFirst) {
      const stop = places.get(after) as number;
      for (let at = firstFree(places.get(start) as number); at < stop; at = firstFree(at)) {
        owners[at] = url;
        free[at] = at + 1;
      }
    }
    for (const [at, url] of owners.entries()) {
      if (url === null) continue;
      const all = found.get(url) ?? { 4: [], 6: [] };
      found.set(url, all);
      const segment = { start: bounds[at] as bigint, end: (bounds[at + 1] as bigint) - 1n };
      const last = all[version].at(-1);
      if (last !== undefined && last.end + 1n === segment.start) all[version][all[version].length - 1] = { ...segment, start: last.start };
      else all[version].push(segment);
    }
  }
  return found;
}

/** The part of a prefix that lies in the segments, as the fewest prefixes. */
export function* partsWithin(prefix: Prefix, segments: Segments): Generator<Prefix> {
  const { version } = prefix;
  const [start, end] = [addressNumber(firstAddress(prefix)), addressNumber(lastAddress(prefix))];
  const own = segments[version];
  let [low, high] = [0, own.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((own[middle] as Segment).end < start) low = middle + 1;
    else high = middle;
  }
  for (; low < own.length; low++) {
    const segment = own[low] as Segment;
    if (segment.start > end) return;
    // `Math.max` does not take bigints.
    const [, from = start] = [start, segment.start].sort(compare);
    const [to = end] = [end, segment.end].sort(compare);
    yield* rangeToPrefixes(addressOf(version, from), addressOf(version, to));
  }
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
