/** The pass over RIBs: collects every route as (prefix, peer, path) in columns, whatever the order of the files. */

import type { Address } from "@netfacts/address";
import type { Peer, RibSink } from "@netfacts/mrt";
import { PathTable } from "./path-table.ts";

/** A peer is the same only with collector, address and AS. */
export interface CollectedPeer {
  readonly collector: number;
  readonly address: Address;
  readonly asn: number;
}

const initialPrefixes = 1 << 12;
const initialRoutes = 1 << 14;

/** The largest number of peers that a column of 16 bits can tell apart. */
export const peersMax = 65_535;

/** Prefixes of one family in the order met, each with its run of routes. */
export class FamilyRoutes {
  readonly wordsPerPrefix: 1 | 4;
  prefixes = 0;
  routes = 0;
  words: Uint32Array;
  length = new Uint8Array(initialPrefixes);
  /** Where the routes of each prefix begin. */
  start = new Uint32Array(initialPrefixes);
  peer = new Uint16Array(initialRoutes);
  path = new Uint32Array(initialRoutes);

  constructor(wordsPerPrefix: 1 | 4) {
    this.wordsPerPrefix = wordsPerPrefix;
    this.words = new Uint32Array(initialPrefixes * wordsPerPrefix);
  }

  addPrefix(w0: number, w1: number, w2: number, w3: number, length: number): void {
    if (this.prefixes === this.length.length) {
      this.words = grown(this.words, new Uint32Array(this.words.length * 2));
      this.start = grown(this.start, new Uint32Array(this.start.length * 2));
      this.length = grown(this.length, new Uint8Array(this.length.length * 2));
    }
    const index = this.prefixes++;
    this.length[index] = length;
    this.start[index] = this.routes;
    if (this.wordsPerPrefix === 1) {
      this.words[index] = w0;
      return;
    }
    const at = index * 4;
    this.words[at] = w0;
    this.words[at + 1] = w1;
    this.words[at + 2] = w2;
    this.words[at + 3] = w3;
  }

  addRoute(peer: number, path: number): void {
    if (this.routes === this.peer.length) {
      this.peer = grown(this.peer, new Uint16Array(this.peer.length * 2));
      this.path = grown(this.path, new Uint32Array(this.path.length * 2));
    }
    this.peer[this.routes] = peer;
    this.path[this.routes++] = path;
  }

  /** One past the last route of a prefix. */
  end(index: number): number {
    return index + 1 < this.prefixes ? (this.start[index + 1] as number) : this.routes;
  }

  /** Order of prefixes by address, then length. */
  compare(a: number, b: number): number {
    const size = this.wordsPerPrefix;
    for (let word = 0; word < size; word++) {
      const difference = (this.words[a * size + word] as number) - (this.words[b * size + word] as number);
      if (difference !== 0) return difference;
    }
    return (this.length[a] as number) - (this.length[b] as number);
  }

  /** Prefix numbers ascending. A RIB that is sorted, as they are, costs one look. */
  order(): Uint32Array {
    const order = new Uint32Array(this.prefixes);
    let ascending = true;
    for (let index = 0; index < order.length; index++) {
      order[index] = index;
      if (ascending && index > 0 && this.compare(index - 1, index) > 0) ascending = false;
    }
    return ascending ? order : order.sort((a, b) => this.compare(a, b) || a - b);
  }
}

function grown<A extends Uint8Array | Uint16Array | Uint32Array>(from: A, to: A): A {
  to.set(from as never);
  return to;
}

/** Receives any number of RIBs, one after the other. */
export class RibPass implements RibSink {
  readonly paths = new PathTable();
  readonly ipv4 = new FamilyRoutes(1);
  readonly ipv6 = new FamilyRoutes(4);
  readonly collectors: string[] = [];
  readonly peers: CollectedPeer[] = [];
  readonly #numbers = new Map<string, number>();
  /** From the file's peer index to the number of the peer. */
  #local: number[] = [];
  #family: FamilyRoutes = this.ipv4;

  /** What comes from now on is of this collector. */
  beginCollector(name: string): void {
    this.collectors.push(name);
    this.#local = [];
  }

  peerIndex(peers: Peer[]): void {
    const collector = this.collectors.length - 1;
    this.#local = peers.map(({ address, asn }) => {
      const key = `${collector} ${address.version} ${address.w0} ${address.w1} ${address.w2} ${address.w3} ${asn}`;
      const known = this.#numbers.get(key);
      if (known !== undefined) return known;
      const number = this.peers.push({ collector, address, asn }) - 1;
      if (number >= peersMax) throw new RangeError(`more than ${peersMax} peers`);
      this.#numbers.set(key, number);
      return number;
    });
  }

  prefix(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number): void {
    this.#family = version === 4 ? this.ipv4 : this.ipv6;
    this.#family.addPrefix(w0, w1, w2, w3, length);
  }

  route(peerIndex: number, _originatedAt: number, bytes: Uint8Array, pathStart: number, pathEnd: number): void {
    this.#family.addRoute(this.#local[peerIndex] as number, this.paths.intern(bytes, pathStart, pathEnd));
  }
}
