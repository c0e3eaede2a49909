/** RIB entries (RFC 6396 §4.3.4; with a path identifier, RFC 8050 §4): who sees the prefix, since when, with which path. */

import { isAsPath } from "./as-path.ts";
import { readU16, readU32 } from "./bytes.ts";
import { fault } from "./fault.ts";
import { findAsPath, noAsPath, valueEnd, valueStart } from "./path-attributes.ts";

/** An entry count is a u16. */
const entriesMax = 0xffff;

/** The entries of the record last read, as columns (1.2 MB, allocated once), so that a record counts whole or not at all. */
export class RibEntries {
  readonly peerIndex = new Uint16Array(entriesMax);
  /** Unix seconds. */
  readonly originatedAt = new Uint32Array(entriesMax);
  /** Path identifiers; 0 outside of ADD-PATH. */
  readonly pathId = new Uint32Array(entriesMax);
  /** Positions of the AS_PATH's value; equal when there is no path. */
  readonly pathStart = new Uint32Array(entriesMax);
  readonly pathEnd = new Uint32Array(entriesMax);

  /**
   * Reads entry count and entries, which must fill `start`…`end` exactly.
   *
   * @returns the count, or a fault (negative).
   */
  read(bytes: Uint8Array, start: number, end: number, addPath: boolean, peerCount: number): number {
    if (start + 2 > end) return fault.recordOverrun;
    const count = readU16(bytes, start);
    const lengthAt = addPath ? 10 : 6;
    let at = start + 2;
    for (let entry = 0; entry < count; entry++) {
      const attributes = at + lengthAt + 2;
      if (attributes > end) return fault.recordOverrun;
      const next = attributes + readU16(bytes, at + lengthAt);
      if (next > end) return fault.recordOverrun;
      const peerIndex = readU16(bytes, at);
      if (peerIndex >= peerCount) return fault.peerOutOfRange;
      const path = findAsPath(bytes, attributes, next);
      if (path < noAsPath) return path;
      const pathStart = path === noAsPath ? next : valueStart(bytes, path);
      const pathEnd = path === noAsPath ? next : valueEnd(bytes, path);
      if (!isAsPath(bytes, pathStart, pathEnd)) return fault.asPath;
      this.peerIndex[entry] = peerIndex;
      this.originatedAt[entry] = readU32(bytes, at + 2);
      this.pathId[entry] = addPath ? readU32(bytes, at + 6) : 0;
      this.pathStart[entry] = pathStart;
      this.pathEnd[entry] = pathEnd;
      at = next;
    }
    return at === end ? count : fault.trailingBytes;
  }
}
