/** A sample of a RIB, taken between its reader and the build: some prefixes with all their routes, as in the file. */

import type { Address, Prefix } from "@netfacts/address";
import type { Peer, RibSink } from "@netfacts/mrt";
import { type Random, Reservoir } from "./reservoir.ts";

/** One route of a prefix: the peer that announced it to the collector, and the AS path with 4-byte AS numbers. */
export interface SampledRoute {
  readonly peer: Address;
  readonly peerAs: number;
  readonly path: Uint8Array;
}

export interface SampledPrefix {
  readonly prefix: Prefix;
  readonly routes: readonly SampledRoute[];
}

export interface RibSample {
  /** Number of prefixes in the whole table; repeated ones count each time. */
  readonly prefixCount: number;
  readonly prefixes: readonly SampledPrefix[];
  /** The last prefix of each family, without its routes, because a build most easily loses entries at an edge. */
  readonly edges: readonly Prefix[];
}

/** Most sampled prefixes of one RIB: about a megabyte, with some hundred routes each. */
const prefixesMax = 256;

interface Last {
  seen: boolean;
  w0: number;
  w1: number;
  w2: number;
  w3: number;
  length: number;
}

/** Passes everything on to the build's sink. Cost: some nanoseconds per route, and a copy of what is kept. */
export class RibSampler implements RibSink {
  readonly #sink: RibSink;
  readonly #kept: Reservoir<{ prefix: Prefix; routes: SampledRoute[] }>;
  readonly #last: Record<4 | 6, Last> = { 4: noPrefix(), 6: noPrefix() };
  #peers: readonly Peer[] = [];
  #prefixCount = 0;
  /** Routes of the current prefix; null: it is not kept. */
  #routes: SampledRoute[] | null = null;

  constructor(sink: RibSink, random: Random) {
    this.#sink = sink;
    this.#kept = new Reservoir(prefixesMax, random);
  }

  peerIndex(peers: Peer[], collectorId: number, viewName: string, timestamp: number): void {
    this.#peers = peers;
    this.#sink.peerIndex(peers, collectorId, viewName, timestamp);
  }

  prefix(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number, timestamp: number): void {
    this.#prefixCount++;
    const last = this.#last[version];
    last.seen = true;
    last.w0 = w0;
    last.w1 = w1;
    last.w2 = w2;
    last.w3 = w3;
    last.length = length;
    const place = this.#kept.place();
    if (place < 0) this.#routes = null;
    else {
      this.#routes = [];
      this.#kept.put(place, { prefix: { version, w0, w1, w2, w3, length }, routes: this.#routes });
    }
    this.#sink.prefix(version, w0, w1, w2, w3, length, timestamp);
  }

  route(peerIndex: number, originatedAt: number, path: Uint8Array, pathStart: number, pathEnd: number, pathId: number): void {
    const peer = this.#routes === null ? undefined : this.#peers[peerIndex];
    if (peer !== undefined)
      this.#routes?.push({ peer: peer.address, peerAs: peer.asn, path: new Uint8Array(path.subarray(pathStart, pathEnd)) });
    this.#sink.route(peerIndex, originatedAt, path, pathStart, pathEnd, pathId);
  }

  sample(): RibSample {
    const edges = ([4, 6] as const).flatMap((version) => {
      const { seen, ...words } = this.#last[version];
      return seen ? [{ version, ...words }] : [];
    });
    return { prefixCount: this.#prefixCount, prefixes: this.#kept.items(), edges };
  }
}

function noPrefix(): Last {
  return { seen: false, w0: 0, w1: 0, w2: 0, w3: 0, length: 0 };
}
