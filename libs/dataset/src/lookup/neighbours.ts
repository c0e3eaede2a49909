/** Neighbours of an AS: which others stand next to it on the paths that peers announced. */

import { linkSeen, type RoutesColumns, tellsPaths } from "../sections/routes.ts";

/** An AS next to another one on paths; left is towards the collector. */
export interface Neighbour {
  readonly asn: number;
  /**
   * The side on which it stands on more paths, left of a tie. Being left only where it is the collector's own peer says nothing of
   * its place: such a neighbour is `uncertain`, or right where it was seen there too.
   */
  readonly position: "left" | "right" | "uncertain";
  /** Paths on which it stands there: one per prefix, peer and AS path. */
  readonly pathsLeft: number;
  readonly pathsRight: number;
  readonly ipv4: boolean;
  readonly ipv6: boolean;
}

/**
 * The neighbours of an AS, ascending by number; null where the section does not tell any AS's.
 *
 * Cost: two searches, and a step per neighbour.
 */
export function neighboursOf(section: RoutesColumns, asn: number): Neighbour[] | null {
  if (!tellsPaths(section)) return null;
  const { link_left, link_right, link_by_right } = section;
  const size = link_left.length;
  let right = lowerBound(size, asn, (at) => link_left[at] as number);
  let left = lowerBound(size, asn, (at) => link_right[link_by_right[at] as number] as number);
  const neighbours: Neighbour[] = [];
  for (;;) {
    const leftLink = left < size ? (link_by_right[left] as number) : -1;
    const onLeft = leftLink >= 0 && link_right[leftLink] === asn ? (link_left[leftLink] as number) : Number.POSITIVE_INFINITY;
    const onRight = right < size && link_left[right] === asn ? (link_right[right] as number) : Number.POSITIVE_INFINITY;
    const next = Math.min(onLeft, onRight);
    if (next === Number.POSITIVE_INFINITY) return neighbours;
    neighbours.push(neighbour(section, next, onLeft === next ? leftLink : -1, onRight === next ? right : -1));
    if (onLeft === next) left++;
    if (onRight === next) right++;
  }
}

/** @param left, right  the pair in which it stands on that side; -1 = in none. */
function neighbour({ link_paths, link_seen }: RoutesColumns, asn: number, left: number, right: number): Neighbour {
  const pathsLeft = left < 0 ? 0 : (link_paths[left] as number);
  const pathsRight = right < 0 ? 0 : (link_paths[right] as number);
  const seenLeft = left < 0 ? 0 : (link_seen[left] as number);
  const seen = seenLeft | (right < 0 ? 0 : (link_seen[right] as number));
  const certain = (seenLeft & linkSeen.within) !== 0;
  const position = !certain && pathsRight === 0 ? "uncertain" : certain && pathsLeft >= pathsRight ? "left" : "right";
  return { asn, position, pathsLeft, pathsRight, ipv4: (seen & linkSeen.ipv4) !== 0, ipv6: (seen & linkSeen.ipv6) !== 0 };
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
