/** AS_PATH (RFC 4271 §4.3 b, confederations RFC 5065 §3) with 4-byte AS numbers (RFC 6793), as in TABLE_DUMP_V2. */

import { readU32 } from "./bytes.ts";

export type SegmentType = "set" | "sequence" | "confed-sequence" | "confed-set";

export interface PathSegment {
  readonly type: SegmentType;
  readonly asns: readonly number[];
}

const asSet = 1;
const asSequence = 2;
const segmentTypes: readonly SegmentType[] = ["set", "sequence", "confed-sequence", "confed-set"];
const brackets: Readonly<Record<SegmentType, readonly [open: string, separator: string, close: string]>> = {
  sequence: ["", " ", ""],
  set: ["{", ",", "}"],
  "confed-sequence": ["(", " ", ")"],
  "confed-set": ["[", ",", "]"],
};

/** `readPathOrigin`: the path is empty or ends in a confederation segment, so the origin is the peer's own AS. */
export const originIsPeer = -1;
/** `readPathOrigin`: the path ends in an AS_SET; `readPathSet` reads its members. */
export const originIsSet = -2;

/** True when the segments (type u8, count u8, count × AS u32) fill `start`…`end` exactly, each of a known type and not empty. */
export function isAsPath(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at + 2 <= end) {
    const type = bytes[at]!;
    const count = bytes[at + 1]!;
    if (type < 1 || type > 4 || count === 0) return false;
    at += 2 + 4 * count;
  }
  return at === end;
}

/** Where the last segment of a sound path begins; `end` for an empty path. */
function lastSegment(bytes: Uint8Array, start: number, end: number): number {
  let last = end;
  for (let at = start; at < end; at += 2 + 4 * bytes[at + 1]!) last = at;
  return last;
}

/**
 * The origin of a path: the last AS of its final AS_SEQUENCE. An AS_SET at the end, single-member too, is never unwrapped.
 *
 * @param bytes  `start`…`end` is a path that `scanRib` has handed out, so its segments are sound.
 * @returns an AS number (0–4294967295), `originIsPeer` or `originIsSet`. Allocates nothing.
 */
export function readPathOrigin(bytes: Uint8Array, start: number, end: number): number {
  const last = lastSegment(bytes, start, end);
  if (last === end) return originIsPeer;
  const type = bytes[last]!;
  if (type === asSequence) return readU32(bytes, end - 4);
  return type === asSet ? originIsSet : originIsPeer;
}

/** Members of the AS_SET that ends the path, ascending and unique; empty when `readPathOrigin` is not `originIsSet`. */
export function readPathSet(bytes: Uint8Array, start: number, end: number): number[] {
  const last = lastSegment(bytes, start, end);
  if (last === end || bytes[last]! !== asSet) return [];
  return [...new Set(readAsns(bytes, last))].sort((a, b) => a - b);
}

function readAsns(bytes: Uint8Array, segment: number): number[] {
  const asns: number[] = [];
  const end = segment + 2 + 4 * bytes[segment + 1]!;
  for (let at = segment + 2; at < end; at += 4) asns.push(readU32(bytes, at));
  return asns;
}

/** Every segment in order, AS numbers as they stand (prepends and set order kept). Allocates: for people, and for paths kept once. */
export function decodePath(bytes: Uint8Array, start: number, end: number): PathSegment[] {
  const segments: PathSegment[] = [];
  for (let at = start; at < end; at += 2 + 4 * bytes[at + 1]!) {
    segments.push({ type: segmentTypes[bytes[at]! - 1]!, asns: readAsns(bytes, at) });
  }
  return segments;
}

/** The path as bgpdump prints it: `1 2 {3,4}`, confederations `(1 2)` and `[1,2]`. */
export function pathText(bytes: Uint8Array, start: number, end: number): string {
  return decodePath(bytes, start, end)
    .map(({ type, asns }) => {
      const [open, separator, close] = brackets[type];
      return open + asns.join(separator) + close;
    })
    .join(" ");
}
