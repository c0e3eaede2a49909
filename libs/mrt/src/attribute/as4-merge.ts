/** Restores the 4-byte AS numbers that a speaker of 2-byte AS numbers passed on (RFC 6793 §4.2.3). */

import { type PathSegment, segmentsHaveAsZero } from "../as-path.ts";
import type { PathAttributes } from "./path-attributes.ts";

/** Replaces every AS number that does not fit into two bytes. */
const asTrans = 23456;

/**
 * Merges AS4_PATH and AS4_AGGREGATOR into AS_PATH and AGGREGATOR, unless a later speaker made them stale. An AS_PATH with AS 0 is not changed: the
 * route is malformed (RFC 7607 §2), which a merged path would hide. An AGGREGATOR with AS 0, which is kept only to be shown, counts as missing.
 */
export function mergeAs4(into: PathAttributes): void {
  if (into.aggregator !== null && into.aggregator.asn !== 0 && into.as4Aggregator !== null) {
    // A speaker that does not know the AS4 attributes has aggregated again: both are stale.
    if (into.aggregator.asn !== asTrans) return;
    into.aggregator = into.as4Aggregator;
  }
  if (into.asPath === null || into.as4Path === null || segmentsHaveAsZero(into.asPath)) return;
  const leading = pathLength(into.asPath) - pathLength(into.as4Path);
  if (leading >= 0) into.asPath = [...leadingSegments(into.asPath, leading), ...into.as4Path];
}

/** A set counts as one, confederations count as nothing (RFC 4271 §9.1.2.2, RFC 5065 §5.3). */
function pathLength(segments: readonly PathSegment[]): number {
  return segments.reduce((sum, segment) => sum + segmentLength(segment), 0);
}

function segmentLength({ type, asns }: PathSegment): number {
  return type === "sequence" ? asns.length : type === "set" ? 1 : 0;
}

/** The first segments up to a length, including the confederations before and between them. */
function leadingSegments(segments: readonly PathSegment[], length: number): PathSegment[] {
  const leading: PathSegment[] = [];
  let left = length;
  for (const segment of segments) {
    const size = segmentLength(segment);
    if (size > 0 && left === 0) break;
    if (size > left) {
      leading.push({ type: segment.type, asns: segment.asns.slice(0, left) });
      break;
    }
    leading.push(segment);
    left -= size;
  }
  return leading;
}
