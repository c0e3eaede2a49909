/** Neighbours of an AS: the ASes next to it on the paths that peers announced. */

import { linkSeen, type RoutesColumns, tellsPaths } from "../sections/routes.ts";

/** An AS next to another one on paths; left is towards the collector. */
export interface Neighbour {
  readonly asn: number;
  /**
   * The side on which it is on more paths; left if equal. Where it is left only as the collector's own peer, this says nothing of its place: such a
   * neighbour is `uncertain`, or right if it was seen there too.
   */
  readonly position: "left" | "right" | "uncertain";
  /** Paths on which it is on this side: one per prefix, peer and AS path. */
  readonly pathsLeft: number;
  readonly pathsRight: number;
  readonly ipv4: boolean;
  readonly ipv6: boolean;
}

/** Counts of the neighbours of an AS, and the most frequent neighbours. */
export interface NeighbourSummary {
  readonly counts: { readonly left: number; readonly right: number; readonly uncertain: number };
  /** Sums over all neighbours. */
  readonly pathsLeft: number;
  readonly pathsRight: number;
  /** Most paths first, then by number. */
  readonly most: readonly Neighbour[];
}

/**
 * The neighbours of an AS, ascending by number; null if the section has no neighbours of any AS.
 *
 * Cost: two searches, and a step and an object per neighbour.
 */
export function neighboursOf(section: RoutesColumns, asn: number): Neighbour[] | null {
  if (!tellsPaths(section)) return null;
  const neighbours: Neighbour[] = [];
  walk(section, asn, (other, left, right) => neighbours.push(neighbour(section, other, left, right)));
  return neighbours;
}

/**
 * Summarises the neighbours of an AS; null if the section has no neighbours of any AS.
 *
 * Cost: two searches, and two steps per neighbour; objects for `limit` of them.
 */
export function summariseNeighbours(section: RoutesColumns, asn: number, limit: number): NeighbourSummary | null {
  if (!tellsPaths(section)) return null;
  const { link_paths } = section;
  const pathsOf = (link: number) => (link < 0 ? 0 : (link_paths[link] as number));
  const counts = { left: 0, right: 0, uncertain: 0 };
  let pathsLeft = 0;
  let pathsRight = 0;
  const totals: number[] = [];
  walk(section, asn, (_, left, right) => {
    counts[positionOf(section, left, right)]++;
    pathsLeft += pathsOf(left);
    pathsRight += pathsOf(right);
    totals.push(pathsOf(left) + pathsOf(right));
  });
  // The least number of paths among the neighbours that are shown: those with fewer need no object.
  const least = limit < totals.length ? (Float64Array.from(totals).sort()[totals.length - limit] ?? Number.POSITIVE_INFINITY) : 0;
  const most: Neighbour[] = [];
  walk(section, asn, (other, left, right) => {
    if (pathsOf(left) + pathsOf(right) >= least) most.push(neighbour(section, other, left, right));
  });
  most.sort((a, b) => b.pathsLeft + b.pathsRight - a.pathsLeft - a.pathsRight || a.asn - b.asn);
  return { counts, pathsLeft, pathsRight, most: most.slice(0, limit) };
}

/** Visits each neighbour with the index of the pair in which it is left, and of the one in which it is right; −1: there is none. */
function walk(section: RoutesColumns, asn: number, visit: (other: number, left: number, right: number) => void): void {
  const { link_left, link_right, link_by_right } = section;
  const size = link_left.length;
  let right = lowerBound(size, asn, (at) => link_left[at] as number);
  let left = lowerBound(size, asn, (at) => link_right[link_by_right[at] as number] as number);
  for (;;) {
    const leftLink = left < size ? (link_by_right[left] as number) : -1;
    const onLeft = leftLink >= 0 && link_right[leftLink] === asn ? (link_left[leftLink] as number) : Number.POSITIVE_INFINITY;
    const onRight = right < size && link_left[right] === asn ? (link_right[right] as number) : Number.POSITIVE_INFINITY;
    const next = Math.min(onLeft, onRight);
    if (next === Number.POSITIVE_INFINITY) return;
    visit(next, onLeft === next ? leftLink : -1, onRight === next ? right : -1);
    if (onLeft === next) left++;
    if (onRight === next) right++;
  }
}

function neighbour(section: RoutesColumns, asn: number, left: number, right: number): Neighbour {
  const { link_paths, link_seen } = section;
  const seen = (left < 0 ? 0 : (link_seen[left] as number)) | (right < 0 ? 0 : (link_seen[right] as number));
  return {
    asn,
    position: positionOf(section, left, right),
    pathsLeft: left < 0 ? 0 : (link_paths[left] as number),
    pathsRight: right < 0 ? 0 : (link_paths[right] as number),
    ipv4: (seen & linkSeen.ipv4) !== 0,
    ipv6: (seen & linkSeen.ipv6) !== 0,
  };
}

function positionOf({ link_paths, link_seen }: RoutesColumns, left: number, right: number): Neighbour["position"] {
  const certain = left >= 0 && ((link_seen[left] as number) & linkSeen.within) !== 0;
  if (!certain) return right < 0 ? "uncertain" : "right";
  return right < 0 || (link_paths[left] as number) >= (link_paths[right] as number) ? "left" : "right";
}

/** The first of `size` ascending values that is not below `value`. */
function lowerBound(size: number, value: number, at: (index: number) => number): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
