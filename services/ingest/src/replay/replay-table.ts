/** A routing table that changes: prefix × peer → path. Applies a RIB, and the updates after it. */

import type { Address, Prefix } from "@netfacts/address";
import type { Peer, RibSink } from "@netfacts/mrt";
import { release } from "@netfacts/snapshot";
import { PathTable } from "../assembly/path-table.ts";
import { PrefixIndex } from "./prefix-index.ts";

const initialRoutes = 1 << 14;
/** What a record with 2-byte AS numbers has in place of a larger one (RFC 6793 §9). */
const asTrans = 23456;
/** Most peers, since their numbers are in a column of 16 bits. */
const peersMax = 65_535;

/**
 * Routes are nodes of one list per prefix, in columns: about 20 bytes a route, and no object. A list has as many nodes as peers that see the prefix
 * (times its paths, with ADD-PATH), so that a change costs one hash and a short walk.
 *
 * As a RibSink it takes a RIB; `emit` passes the table on like a RIB.
 */
export class ReplayTable implements RibSink {
  readonly #prefixes = new PrefixIndex();
  readonly #paths = new PathTable();
  readonly #peers: Peer[] = [];
  readonly #peerNumbers = new Map<string, number>();
  /** By address: the peer with an AS number of 4 bytes; null: there are several. */
  readonly #largePeers = new Map<string, number | null>();
  readonly #routesOfPeer: number[] = [];
  /** Maps the RIB's peer index to the number of the peer. */
  #local: number[] = [];
  #collectorId = 0;
  #viewName = "";
  /** Number of the current prefix of the RIB. */
  #prefix = 0;
  /** By prefix: its first route plus one; 0: none. */
  #first = new Uint32Array(initialRoutes);
  /** By route. `#next` is the following route plus one; in a free node, the next free node plus one. */
  #next = new Uint32Array(initialRoutes);
  #peer = new Uint16Array(initialRoutes);
  #pathId = new Uint32Array(initialRoutes);
  #path = new Uint32Array(initialRoutes);
  #since = new Uint32Array(initialRoutes);
  #nodes = 0;
  #free = 0;
  #routes = 0;

  /** Number of prefixes so far, including those that have no routes any more. */
  get prefixes(): number {
    return this.#prefixes.size;
  }

  /** Routes in the table. */
  get routes(): number {
    return this.#routes;
  }

  /** Number of peers so far, including those that have no routes any more. They are numbered in the order of their first appearance. */
  get peers(): number {
    return this.#peers.length;
  }

  peerIndex(peers: Peer[], collectorId: number, viewName: string): void {
    this.#local = peers.map((peer) => this.#peerNumber(peer));
    this.#collectorId = collectorId;
    this.#viewName = viewName;
  }

  prefix(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number): void {
    this.#prefix = this.#prefixes.add(version, w0, w1, w2, w3, length);
    this.#roomForPrefix();
  }

  route(peerIndex: number, originatedAt: number, path: Uint8Array, pathStart: number, pathEnd: number, pathId: number): void {
    this.#put(this.#prefix, this.#local[peerIndex] as number, pathId, this.#paths.intern(path, pathStart, pathEnd), originatedAt);
  }

  /** The number of a peer of the RIB itself, which has its AS number as it is there. */
  ribPeerOf({ address, asn }: Pick<Peer, "address" | "asn">): number {
    return this.#peerNumber({ address, asn, bgpId: 0 });
  }

  /** The number of a peer; a new one if an update names a peer that the RIB does not have. */
  peerOf(address: Address, asn: number): number {
    const behind = asn === asTrans ? this.#behindAsTrans(address) : null;
    return behind ?? this.#peerNumber({ address, asn, bgpId: 0 });
  }

  /** The number of a path, given as segments with 4-byte AS numbers (`encodePath`). */
  pathOf(bytes: Uint8Array): number {
    return this.#paths.intern(bytes, 0, bytes.length);
  }

  /** Adds a route, or replaces the one that this peer announced before with the same path identifier (0 without ADD-PATH). */
  announce({ version, w0, w1, w2, w3, length }: Prefix, peer: number, pathId: number, path: number, at: number): void {
    const prefix = this.#prefixes.add(version, w0, w1, w2, w3, length);
    this.#roomForPrefix();
    this.#put(prefix, peer, pathId, path, at);
  }

  /** @returns false if there was no such route */
  withdraw(prefix: Prefix, peer: number, pathId: number): boolean {
    const number = this.#prefixes.find(prefix);
    if (number < 0) return false;
    let before = -1;
    for (let node = this.#firstOf(number); node >= 0; before = node, node = this.#nextOf(node)) {
      if (this.#peer[node] !== peer || this.#pathId[node] !== pathId) continue;
      this.#unlink(number, before, node);
      return true;
    }
    return false;
  }

  /** Removes every route of a peer. @returns their number. Costs a walk over the table, unless there are none */
  removePeer(peer: number): number {
    const count = this.#routesOfPeer[peer] as number;
    if (count === 0) return 0;
    for (let prefix = 0; prefix < this.#prefixes.size; prefix++) {
      let before = -1;
      for (let node = this.#firstOf(prefix); node >= 0; ) {
        const next = this.#nextOf(node);
        if (this.#peer[node] === peer) this.#unlink(prefix, before, node);
        else before = node;
        node = next;
      }
    }
    return count;
  }

  /** Emits the table as a RIB of one time: prefixes in the order of their first appearance, each with its routes. */
  emit(sink: RibSink, timestamp: number): void {
    sink.peerIndex(this.#peers, this.#collectorId, this.#viewName, timestamp);
    const { start, bytes } = this.#paths;
    for (let prefix = 0; prefix < this.#prefixes.size; prefix++) this.#emitPrefix(prefix, start, bytes, sink, timestamp);
  }

  /**
   * As `emit`, in the order of RIB files: IPv4 first, by address and length. Yields after each prefix, so that the caller can take what the sink made
   * of it.
   */
  *emitSorted(sink: RibSink, timestamp: number): Generator<void, void, undefined> {
    sink.peerIndex(this.#peers, this.#collectorId, this.#viewName, timestamp);
    const { start, bytes } = this.#paths;
    for (const prefix of this.#prefixes.sorted()) {
      this.#emitPrefix(prefix, start, bytes, sink, timestamp);
      yield;
    }
  }

  #emitPrefix(prefix: number, start: Uint32Array, bytes: Uint8Array, sink: RibSink, timestamp: number): void {
    let node = this.#firstOf(prefix);
    if (node < 0) return;
    const { version, w0, w1, w2, w3, length } = this.#prefixes.at(prefix);
    sink.prefix(version, w0, w1, w2, w3, length, timestamp);
    for (; node >= 0; node = this.#nextOf(node)) {
      const path = this.#path[node] as number;
      const [from, to] = [start[path] as number, start[path + 1] as number];
      sink.route(this.#peer[node] as number, this.#since[node] as number, bytes, from, to, this.#pathId[node] as number);
    }
  }

  /** Releases the memory; do not use the table again. */
  release(): void {
    this.#prefixes.release();
    this.#paths.release();
    release(this.#first, this.#next, this.#peer, this.#pathId, this.#path, this.#since);
  }

  #peerNumber(peer: Peer): number {
    const address = addressKey(peer.address);
    const key = `${address} ${peer.asn}`;
    const known = this.#peerNumbers.get(key);
    if (known !== undefined) return known;
    const number = this.#peers.push(peer) - 1;
    if (number >= peersMax) throw new RangeError(`more than ${peersMax} peers`);
    this.#peerNumbers.set(key, number);
    if (peer.asn > 0xffff) this.#largePeers.set(address, this.#largePeers.has(address) ? null : number);
    this.#routesOfPeer.push(0);
    return number;
  }

  /** The one peer with this address and an AS number of 4 bytes; undefined or null: there is none, or several, or one whose AS is AS_TRANS. */
  #behindAsTrans(address: Address): number | null | undefined {
    const key = addressKey(address);
    return this.#peerNumbers.has(`${key} ${asTrans}`) ? null : this.#largePeers.get(key);
  }

  #firstOf(prefix: number): number {
    return (this.#first[prefix] as number) - 1;
  }

  #nextOf(node: number): number {
    return (this.#next[node] as number) - 1;
  }

  #put(prefix: number, peer: number, pathId: number, path: number, at: number): void {
    let last = -1;
    let node = this.#firstOf(prefix);
    for (; node >= 0; last = node, node = this.#nextOf(node)) if (this.#peer[node] === peer && this.#pathId[node] === pathId) break;
    if (node < 0) {
      node = this.#newNode();
      this.#peer[node] = peer;
      this.#pathId[node] = pathId;
      this.#next[node] = 0;
      if (last < 0) this.#first[prefix] = node + 1;
      else this.#next[last] = node + 1;
      this.#routes++;
      this.#routesOfPeer[peer] = (this.#routesOfPeer[peer] as number) + 1;
    }
    this.#path[node] = path;
    this.#since[node] = at;
  }

  #unlink(prefix: number, before: number, node: number): void {
    const next = this.#next[node] as number;
    if (before < 0) this.#first[prefix] = next;
    else this.#next[before] = next;
    this.#next[node] = this.#free;
    this.#free = node + 1;
    this.#routes--;
    const peer = this.#peer[node] as number;
    this.#routesOfPeer[peer] = (this.#routesOfPeer[peer] as number) - 1;
  }

  #newNode(): number {
    if (this.#free > 0) {
      const node = this.#free - 1;
      this.#free = this.#next[node] as number;
      return node;
    }
    if (this.#nodes === this.#next.length) {
      const length = this.#nodes * 2;
      this.#next = grown(this.#next, new Uint32Array(length));
      this.#peer = grown(this.#peer, new Uint16Array(length));
      this.#pathId = grown(this.#pathId, new Uint32Array(length));
      this.#path = grown(this.#path, new Uint32Array(length));
      this.#since = grown(this.#since, new Uint32Array(length));
    }
    return this.#nodes++;
  }

  #roomForPrefix(): void {
    if (this.#prefixes.size > this.#first.length) this.#first = grown(this.#first, new Uint32Array(this.#first.length * 2));
  }
}

function addressKey({ version, w0, w1, w2, w3 }: Address): string {
  return `${version} ${w0} ${w1} ${w2} ${w3}`;
}

function grown<A extends Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(from: A, to: A): A {
  to.set(from);
  release(from);
  return to;
}
