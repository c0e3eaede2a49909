/** Builds object `paths/<collector>` from a RIB. */

import type { ColumnPieces, PathsColumns, pathsFormat } from "@netfacts/snapshot";
import type { RibPaths, RibTable } from "./rib-pass.ts";

/** The columns share the memory of the table; do not use that afterwards. `full` as in `MergedRoutes`. */
export function pathsColumns(
  { peers, ipv4, ipv6 }: RibTable,
  { start, bytes }: RibPaths,
  full: Uint8Array,
): ColumnPieces<(typeof pathsFormat)["columns"]> {
  const peerWords = new Uint32Array(peers.length * 4);
  for (const [index, { address }] of peers.entries()) peerWords.set([address.w0, address.w1, address.w2, address.w3], index * 4);
  const ipv4Routes = ipv4.peer.length;
  return {
    path_start: start,
    path_bytes: bytes,
    v4_address: ipv4.words,
    v4_length: ipv4.length,
    v6_words: ipv6.words,
    v6_length: ipv6.length,
    route_start: [ipv4.start.subarray(0, ipv4.length.length), ipv6.start.map((route) => ipv4Routes + route)],
    route_peer: [ipv4.peer, ipv6.peer],
    route_path: [ipv4.path, ipv6.path],
    peer_version: Uint8Array.from(peers, ({ address }) => address.version),
    peer_words: peerWords,
    peer_asn: Uint32Array.from(peers, ({ asn }) => asn),
    peer_full: full,
  } satisfies { [C in keyof PathsColumns]: unknown };
}
