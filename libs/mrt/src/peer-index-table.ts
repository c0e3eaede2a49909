/** PEER_INDEX_TABLE (RFC 6396 §4.3.1): the collector, and the peers that later RIB entries refer to by number. */

import type { Address } from "@netfacts/address";
import { readU16, readU32 } from "./bytes.ts";

export interface Peer {
  readonly address: Address;
  readonly asn: number;
  /** BGP identifier of the peer, an unsigned 32-bit integer. */
  readonly bgpId: number;
}

export interface PeerIndexTable {
  /** BGP identifier of the collector. */
  readonly collectorId: number;
  readonly viewName: string;
  readonly peers: Peer[];
}

const ipv6Peer = 0x01;
const fourByteAs = 0x02;

/** Reads the body of the record in `start`…`end`; returns a text if it is invalid. */
export function readPeerIndexTable(bytes: Uint8Array, start: number, end: number): PeerIndexTable | string {
  if (start + 6 > end) return "the peer index table ends inside its header";
  const nameEnd = start + 6 + readU16(bytes, start + 4);
  if (nameEnd + 2 > end) return "the peer index table ends inside its view name";
  const count = readU16(bytes, nameEnd);
  const peers: Peer[] = [];
  let at = nameEnd + 2;
  for (let index = 0; index < count; index++) {
    const type = at < end ? bytes[at]! : 0;
    const addressAt = at + 5;
    const asAt = addressAt + (type & ipv6Peer ? 16 : 4);
    const next = asAt + (type & fourByteAs ? 4 : 2);
    if (next > end) return `the peer index table ends inside peer ${index} of ${count}`;
    peers.push({
      address: readAddress(bytes, addressAt, (type & ipv6Peer) !== 0),
      asn: type & fourByteAs ? readU32(bytes, asAt) : readU16(bytes, asAt),
      bgpId: readU32(bytes, at + 1),
    });
    at = next;
  }
  if (at !== end) return `the peer index table has bytes after its ${count} peers`;
  return { collectorId: readU32(bytes, start), viewName: new TextDecoder().decode(bytes.subarray(start + 6, nameEnd)), peers };
}

function readAddress(bytes: Uint8Array, at: number, ipv6: boolean): Address {
  const w0 = readU32(bytes, at);
  if (!ipv6) return { version: 4, w0, w1: 0, w2: 0, w3: 0 };
  return { version: 6, w0, w1: readU32(bytes, at + 4), w2: readU32(bytes, at + 8), w3: readU32(bytes, at + 12) };
}
