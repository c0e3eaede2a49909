/** AS_PATH (RFC 4271 §4.3 b, confederations RFC 5065 §3), with 4-byte AS numbers (RFC 6793) as in TABLE_DUMP_V2, or 2-byte ones. */

import { readU16, readU32 } from "./bytes.ts";

export type SegmentType = "set" | "sequence" | "confed-sequence" | "confed-set";

export interface PathSegment {
  readonly type: SegmentType;
  readonly asns: readonly number[];
}

const asSet = 1;
const asSequence = 2;
const segmentTypes: readonly SegmentType[] = ["set", "sequence", "confed-sequence", "confed-set"];
export const segmentBrackets: Readonly<Record<SegmentType, readonly [open: string, separator: string, close: string]>> = {
  sequence: ["", " ", ""],
  set: ["{", ",", "}"],
  "confed-sequence": ["(", " ", ")"],
  "confed-set": ["[", ",", "]"],
};

/** `readPathOrigin`: the path is empty or ends in a confederation segment, so the origin is the AS of the peer. */
export const originIsPeer = -1;
/** `readPathOrigin`: the path ends in an AS_SET; `readPathSet` reads its members. */
export const originIsSet = -2;

/** True when the segments (type u8, count u8, count × AS) fill `start`…`end` exactly, each of a known type and not empty. */
export function isAsPath(bytes: Uint8Array, start: number, end: number, asBytes: 2 | 4 = 4): boolean {
  let at = start;
  while (at + 2 <= end) {
    const type = bytes[at]!;
    const count = bytes[at + 1]!;
    if (type < 1 || type > 4 || count === 0) return false;
    at += 2 + asBytes * count;
  }
  return at === end;
}

/** Whether AS 0 is anywhere in a sound path: such a path is malformed (RFC 7607), but can still be read and shown. */
export function hasAsZero(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; ) {
    const next = at + 2 + 4 * bytes[at + 1]!;
    for (at += 2; at < next; at += 4) if ((bytes[at]! | bytes[at + 1]! | bytes[at + 2]! | bytes[at + 3]!) === 0) return true;
  }
  return false;
}

/** `hasAsZero` of decoded segments. */
export function segmentsHaveAsZero(segments: readonly PathSegment[]): boolean {
  return segments.some(({ asns }) => asns.includes(0));
}

/**
 * Whether AS 0 malforms the path of a route in a table (RFC 7607). A router's own routes have a peer of AS 0, and may have AS 0 alone as their path.
 */
export function isMalformedByAsZero(segments: readonly PathSegment[], peerAsn: number): boolean {
  const [first] = segments;
  const isOwn = peerAsn === 0 && segments.length === 1 && first?.type === "sequence" && first.asns.length === 1;
  return !isOwn && segmentsHaveAsZero(segments);
}

/** Whether a sound path consists of one AS_SEQUENCE with AS 0 only. */
export function isAsZeroAlone(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start === 6 && bytes[start] === asSequence;
}

/** Start of the last segment of a sound path; `end` for an empty path. */
function lastSegment(bytes: Uint8Array, start: number, end: number): number {
  let last = end;
  for (let at = start; at < end; at += 2 + 4 * bytes[at + 1]!) last = at;
  return last;
}

/**
 * The origin of a path: the last AS of its final AS_SEQUENCE. An AS_SET at the end is never unwrapped, even with a single member.
 *
 * @param bytes  `start`…`end` is a path from `scanRib`, so its segments are sound.
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
  return [...new Set(readAsns(bytes, last, 4))].sort((a, b) => a - b);
}

function readAsns(bytes: Uint8Array, segment: number, asBytes: 2 | 4): number[] {
  const asns: number[] = [];
  const end = segment + 2 + asBytes * bytes[segment + 1]!;
  for (let at = segment + 2; at < end; at += asBytes) asns.push(asBytes === 4 ? readU32(bytes, at) : readU16(bytes, at));
  return asns;
}

/**
 * Every segment in order, AS numbers unchanged (prepends and the order of sets are kept). Allocates: for output to people, and for paths that are
 * kept once.
 */
export function decodePath(bytes: Uint8Array, start: number, end: number, asBytes: 2 | 4 = 4): PathSegment[] {
  const segments: PathSegment[] = [];
  for (let at = start; at < end; at += 2 + asBytes * bytes[at + 1]!) {
    segments.push({ type: segmentTypes[bytes[at]! - 1]!, asns: readAsns(bytes, at, asBytes) });
  }
  return segments;
}

/** Encodes segments in the form that `decodePath` reads, with 4-byte AS numbers; no segment may have more than 255. */
export function encodePath(segments: readonly PathSegment[]): Uint8Array {
  const bytes = new Uint8Array(segments.reduce((sum, { asns }) => sum + 2 + 4 * asns.length, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { type, asns } of segments) {
    bytes[at] = segmentTypes.indexOf(type) + 1;
    bytes[at + 1] = asns.length;
    at += 2;
    for (const asn of asns) {
      view.setUint32(at, asn);
      at += 4;
    }
  }
  return bytes;
}

/** The path in the form of bgpdump: `1 2 {3,4}`, confederations `(1 2)` and `[1,2]`. */
export function pathText(bytes: Uint8Array, start: number, end: number): string {
  return segmentsText(decodePath(bytes, start, end));
}

/** Decoded segments in the form of `pathText`. */
export function segmentsText(segments: readonly PathSegment[]): string {
  let text = "";
  for (const { type, asns } of segments) {
    const [open, separator, close] = segmentBrackets[type];
    if (text !== "") text += " ";
    text += open + asns.join(separator) + close;
  }
  return text;
}
