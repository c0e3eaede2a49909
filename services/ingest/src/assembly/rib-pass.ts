/** The pass over one RIB: collects its routes and paths in columns, in any order of the file. */

import type { Address } from "@netfacts/address";
import type { Peer, RibSink } from "@netfacts/mrt";
import { release } from "@netfacts/snapshot";
import { type AsLinks, countLinks } from "./as-links.ts";
import { type PathFacts, readPathFacts } from "./path-facts.ts";
import { PathQueue } from "./path-queue.ts";
import { PathTable } from "./path-table.ts";
import { FamilyCollector, type RibFamily } from "./rib-family.ts";

/** A peer of the collector, identified by address and AS together. */
export interface RibPeer {
  readonly address: Address;
  readonly asn: number;
}

/** The parts of a RIB that the merge takes. Peers and paths are numbered within it. */
export interface RibTable {
  readonly peers: readonly RibPeer[];
  /** BGP identifier of the collector; 0: unknown. */
  readonly collectorId: number;
  readonly ipv4: RibFamily;
  readonly ipv6: RibFamily;
  /** By peer: number of prefixes that show how full its feed of the family is. */
  readonly feedSize: { readonly ipv4: Uint32Array<ArrayBuffer>; readonly ipv6: Uint32Array<ArrayBuffer> };
  readonly facts: PathFacts;
}

/** The paths themselves, and the pairs of adjacent ASes on them. */
export interface RibPaths {
  /** Bounds of each path's bytes: one more than there are paths. */
  readonly start: Uint32Array<ArrayBuffer>;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly links: AsLinks;
}

/** Most peers that a column of 16 bits can distinguish. */
export const peersMax = 65_535;

/** Receives one RIB. Then call `table`, then `paths`, each once. */
export class RibPass implements RibSink {
  readonly #paths = new PathTable();
  readonly #queue = new PathQueue(this.#paths);
  readonly #ipv4 = new FamilyCollector(1);
  readonly #ipv6 = new FamilyCollector(4);
  readonly #peers: RibPeer[] = [];
  readonly #numbers = new Map<string, number>();
  /** Maps the file's peer index to the number of the peer. */
  #local: number[] = [];
  #family = this.#ipv4;
  #collectorId = 0;
  #uses = { ipv4: new Uint32Array(), ipv6: new Uint32Array() };

  peerIndex(peers: Peer[], collectorId: number): void {
    this.#collectorId = collectorId;
    this.#local = peers.map(({ address, asn }) => {
      const key = `${address.version} ${address.w0} ${address.w1} ${address.w2} ${address.w3} ${asn}`;
      const known = this.#numbers.get(key);
      if (known !== undefined) return known;
      const number = this.#peers.push({ address, asn }) - 1;
      if (number >= peersMax) throw new RangeError(`more than ${peersMax} peers`);
      this.#numbers.set(key, number);
      return number;
    });
  }

  prefix(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number): void {
    const family = version === 4 ? this.#ipv4 : this.#ipv6;
    if (family !== this.#family) {
      this.#queue.flush(this.#family.path);
      this.#family = family;
    }
    this.#family.addPrefix(w0, w1, w2, w3, length);
  }

  route(peerIndex: number, _originatedAt: number, bytes: Uint8Array, pathStart: number, pathEnd: number): void {
    const { peer, path } = this.#family;
    peer.push(this.#local[peerIndex] as number);
    this.#queue.add(bytes, pathStart, pathEnd, path);
  }

  /** The columns belong to the caller from now on, and may be sent to another thread. */
  table(): RibTable {
    this.#queue.flush(this.#family.path);
    this.#paths.seal();
    const { size } = this.#paths;
    const feedSize = { ipv4: new Uint32Array(this.#peers.length), ipv6: new Uint32Array(this.#peers.length) };
    this.#uses = { ipv4: new Uint32Array(size), ipv6: new Uint32Array(size) };
    return {
      peers: this.#peers,
      collectorId: this.#collectorId,
      ipv4: this.#ipv4.finish({ feedSize: feedSize.ipv4, pathUses: this.#uses.ipv4 }),
      ipv6: this.#ipv6.finish({ feedSize: feedSize.ipv6, pathUses: this.#uses.ipv6 }),
      feedSize,
      facts: readPathFacts(this.#paths),
    };
  }

  paths(): RibPaths {
    const links = countLinks(this.#paths, this.#uses);
    release(this.#uses.ipv4, this.#uses.ipv6);
    return { start: this.#paths.start, bytes: this.#paths.bytes, links };
  }
}
