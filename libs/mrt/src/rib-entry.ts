/** RIB entries (RFC 6396 §4.3.4; with a path identifier, RFC 8050 §4): for each peer, the time and the path of its route to the prefix. */

import { hasAsZero, isAsPath, isAsZeroAlone } from "./as-path.ts";
import { readU16, readU32 } from "./bytes.ts";
import { fault } from "./fault.ts";
import { findAsPath, noAsPath, valueEnd, valueStart } from "./path-attributes.ts";
import type { Peer } from "./peer-index-table.ts";

/** More than most tables have peers. */
const firstEntries = 256;
/** An entry count is a u16. */
const entriesMax = 0xffff;

/**
 * The entries of the record that was read last, as columns, which are replaced by longer ones when a record has more entries (at most 65,535, 1.2 MB):
 * a record is read to its end before any of its routes is passed on.
 */
export class RibEntries {
  peerIndex = new Uint16Array(firstEntries);
  /** Unix seconds. */
  originatedAt = new Uint32Array(firstEntries);
  /** Path identifiers; 0 outside of ADD-PATH. */
  pathId = new Uint32Array(firstEntries);
  /** Positions of the AS_PATH's value; equal when there is no path. */
  pathStart = new Uint32Array(firstEntries);
  pathEnd = new Uint32Array(firstEntries);
  /** Number of entries of this record with malformed attributes or a malformed AS_PATH: they are not in the columns. */
  leftOut = 0;
  /** The fault of the first of these entries. */
  leftOutFault = 0;

  /**
   * Reads entry count and entries, which must fill `start`…`end` exactly. The attributes of an entry have their own length, so that a malformed
   * AS_PATH affects only this route, and not those of other peers (RFC 7606 §7.2: it counts as withdrawn).
   *
   * @returns the number of entries in the columns, or a fault (negative).
   */
  read(bytes: Uint8Array, start: number, end: number, addPath: boolean, peers: readonly Peer[]): number {
    if (start + 2 > end) return fault.recordOverrun;
    const count = readU16(bytes, start);
    const lengthAt = addPath ? 10 : 6;
    let at = start + 2;
    // No more than the record has room for, whatever its count says.
    this.#makeRoom(Math.min(count, Math.floor((end - at) / (lengthAt + 2))));
    let entry = 0;
    this.leftOut = 0;
    for (let left = count; left > 0; left--) {
      const attributes = at + lengthAt + 2;
      if (attributes > end) return fault.recordOverrun;
      const next = attributes + readU16(bytes, at + lengthAt);
      if (next > end) return fault.recordOverrun;
      const peerIndex = readU16(bytes, at);
      if (peerIndex >= peers.length) return fault.peerOutOfRange;
      const path = findAsPath(bytes, attributes, next);
      const pathStart = path < 0 ? next : valueStart(bytes, path);
      const pathEnd = path < 0 ? next : valueEnd(bytes, path);
      const isSound = path >= noAsPath && isAsPath(bytes, pathStart, pathEnd);
      // A router's own routes have no peer, and may have AS 0 as their origin: no peer sent them.
      const isOwn = peers[peerIndex]!.asn === 0 && isAsZeroAlone(bytes, pathStart, pathEnd);
      const isFromZero = isSound && !isOwn && hasAsZero(bytes, pathStart, pathEnd);
      if (!isSound || isFromZero) {
        if (this.leftOut++ === 0) this.leftOutFault = path < noAsPath ? path : isFromZero ? fault.asZero : fault.asPath;
        at = next;
        continue;
      }
      this.peerIndex[entry] = peerIndex;
      this.originatedAt[entry] = readU32(bytes, at + 2);
      this.pathId[entry] = addPath ? readU32(bytes, at + 6) : 0;
      this.pathStart[entry] = pathStart;
      this.pathEnd[entry] = pathEnd;
      entry++;
      at = next;
    }
    return at === end ? entry : fault.trailingBytes;
  }

  /** Loses what the columns hold. */
  #makeRoom(entries: number): void {
    if (entries <= this.peerIndex.length) return;
    const length = Math.min(entriesMax, Math.max(entries, 2 * this.peerIndex.length));
    this.peerIndex = new Uint16Array(length);
    this.originatedAt = new Uint32Array(length);
    this.pathId = new Uint32Array(length);
    this.pathStart = new Uint32Array(length);
    this.pathEnd = new Uint32Array(length);
  }
}
