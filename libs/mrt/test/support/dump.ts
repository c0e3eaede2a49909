/** A RIB as lines, `timestamp|B|peer address|peer AS|prefix|path`, as `bgpdump -m` has them. */

import { formatAddress } from "@netfacts/address";
import { type Peer, pathText, type RibReport, type RibSink, type ScanOptions, scanRib } from "../../src/index.ts";

/** Hands each line to `take`. */
export function lineSink(take: (line: string) => void): RibSink {
  let peers: Peer[] = [];
  let prefix = "";
  let time = 0;
  return {
    peerIndex(table) {
      peers = table;
    },
    prefix(version, w0, w1, w2, w3, length, timestamp) {
      prefix = `${formatAddress({ version, w0, w1, w2, w3 })}/${length}`;
      time = timestamp;
    },
    route(peerIndex, _originatedAt, path, start, end) {
      const peer = peers[peerIndex];
      if (peer === undefined) throw new RangeError(`route of peer ${peerIndex} of ${peers.length}`);
      take(`${time}|B|${formatAddress(peer.address)}|${peer.asn}|${prefix}|${pathText(path, start, end)}`);
    },
  };
}

export interface Dump {
  readonly lines: string[];
  readonly report: RibReport;
}

/** Scans bytes that come in chunks of `chunkBytes`. */
export async function dump(bytes: Uint8Array, options: ScanOptions = {}, chunkBytes = bytes.length || 1): Promise<Dump> {
  const lines: string[] = [];
  const report = await scanRib(
    chunksOf(bytes, chunkBytes),
    lineSink((line) => lines.push(line)),
    options,
  );
  return { lines, report };
}

export async function* chunksOf(bytes: Uint8Array, chunkBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
