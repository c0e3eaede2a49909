/** The facts about each AS path that the merge needs: its origin, and the upstream of the origin. */

import { originIsPeer, originIsSet, readPathOrigin, readPathSet } from "@netfacts/mrt";
import type { PathTable } from "./path-table.ts";

/** Kinds of origins of a path. */
export const pathOrigin = {
  /** The value is an AS number. */
  as: 0,
  /** The value is the number of an AS_SET in `sets`. */
  set: 1,
  /** The origin is the peer's own AS: the path is empty, or ends in a confederation or in AS 0. AS 0 is used here only by a router's own routes. */
  peer: 2,
} as const;

/** Columns by path number. */
export interface PathFacts {
  readonly originKind: Uint8Array<ArrayBuffer>;
  readonly originValue: Uint32Array<ArrayBuffer>;
  /** One of `pathUpstream`. */
  readonly upstreamKind: Uint8Array<ArrayBuffer>;
  readonly upstream: Uint32Array<ArrayBuffer>;
  /** Members, in ascending order, of the AS_SETs at the end of paths. */
  readonly sets: number[][];
}

/** Kinds of upstreams of a path. */
export const pathUpstream = {
  /** None can be used: the path has a set, a confederation or a loop. */
  unusable: 0,
  /** The path has no AS except the origin. */
  none: 1,
  /** The value is the AS next to the origin. */
  as: 2,
} as const;

const asSequence = 2;
/** Up to this many ASes, loops are found by comparing all pairs. */
const fewHops = 32;

/** Reads the ASes of a path into its own list, with prepends collapsed. */
export class HopReader {
  hops = new Uint32Array(256);

  /** @returns the number of ASes; −1 for a path with a set, a confederation or a loop. `bytes[start, end)` must be a valid path. */
  read(bytes: Uint8Array, start: number, end: number): number {
    let count = 0;
    for (let at = start; at < end; ) {
      if (bytes[at] !== asSequence) return -1;
      const last = at + 2 + 4 * (bytes[at + 1] as number);
      if (count + 255 > this.hops.length) this.#grow();
      for (at += 2; at < last; at += 4) {
        const asn =
          (((bytes[at] as number) << 24) |
            ((bytes[at + 1] as number) << 16) |
            ((bytes[at + 2] as number) << 8) |
            (bytes[at + 3] as number)) >>>
          0;
        if (count === 0 || this.hops[count - 1] !== asn) this.hops[count++] = asn;
      }
    }
    return this.#hasLoop(count) ? -1 : count;
  }

  #hasLoop(count: number): boolean {
    const { hops } = this;
    if (count > fewHops) return new Set(hops.subarray(0, count)).size < count;
    for (let later = 2; later < count; later++)
      for (let earlier = later - 2; earlier >= 0; earlier--) if (hops[earlier] === hops[later]) return true;
    return false;
  }

  #grow(): void {
    const larger = new Uint32Array(this.hops.length * 2);
    larger.set(this.hops);
    this.hops = larger;
  }
}

/** Reads every path of a table. */
export function readPathFacts({ size, start, bytes }: PathTable): PathFacts {
  const originKind = new Uint8Array(size);
  const originValue = new Uint32Array(size);
  const upstreamKind = new Uint8Array(size);
  const upstream = new Uint32Array(size);
  const sets: number[][] = [];
  const setNumbers = new Map<string, number>();
  const reader = new HopReader();
  for (let path = 0; path < size; path++) {
    const from = start[path] as number;
    const to = start[path + 1] as number;
    const origin = readPathOrigin(bytes, from, to);
    if (origin === originIsSet) {
      const members = readPathSet(bytes, from, to);
      const key = members.join();
      let set = setNumbers.get(key);
      if (set === undefined) {
        set = sets.push(members) - 1;
        setNumbers.set(key, set);
      }
      originKind[path] = pathOrigin.set;
      originValue[path] = set;
    } else if (origin === originIsPeer || origin === 0) originKind[path] = pathOrigin.peer;
    else originValue[path] = origin;
    const hops = reader.read(bytes, from, to);
    if (hops < 0) continue;
    upstreamKind[path] = hops < 2 ? pathUpstream.none : pathUpstream.as;
    if (hops >= 2) upstream[path] = reader.hops[hops - 2] as number;
  }
  return { originKind, originValue, upstreamKind, upstream, sets };
}
