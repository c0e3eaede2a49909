/** The routes of one address family of a RIB: collected in the order of the file, returned in sorted order. */

import { GrowableUint8, GrowableUint16, GrowableUint32, lookupSpecialPurposePrefix, release } from "@netfacts/snapshot";

/** Prefixes in ascending order of (address, length), each once; their routes in ascending order of (peer, path), each pair once. */
export interface RibFamily {
  /** One word per IPv4 prefix, four per IPv6 prefix. */
  readonly words: Uint32Array<ArrayBuffer>;
  readonly length: Uint8Array<ArrayBuffer>;
  /** Bounds of each prefix's run of routes: one more than there are prefixes. */
  readonly start: Uint32Array<ArrayBuffer>;
  readonly peer: Uint16Array<ArrayBuffer>;
  readonly path: Uint32Array<ArrayBuffer>;
}

/** Counters that get every route once. */
export interface RouteCounts {
  /** Number of each peer's prefixes that show how full its feed is (docs/design/semantics.md#which-routes-count). */
  readonly feedSize: Uint32Array;
  /** Number of routes of each path, without default routes. */
  readonly pathUses: Uint32Array;
}

/** Shortest and longest prefix length that shows how full a feed is. */
const feedLengths = { 1: [8, 24], 4: [16, 48] } as const;
const peerUnit = 2 ** 32;

export class FamilyCollector {
  readonly #size: 1 | 4;
  readonly #words = new GrowableUint32();
  readonly #length = new GrowableUint8();
  readonly #start = new GrowableUint32();
  /** Routes of all prefixes so far. */
  readonly peer = new GrowableUint16();
  readonly path = new GrowableUint32();

  constructor(wordsPerPrefix: 1 | 4) {
    this.#size = wordsPerPrefix;
  }

  addPrefix(w0: number, w1: number, w2: number, w3: number, length: number): void {
    this.#length.push(length);
    this.#start.push(this.peer.length);
    this.#words.push(w0);
    if (this.#size === 1) return;
    this.#words.push(w1);
    this.#words.push(w2);
    this.#words.push(w3);
  }

  /** Sorts the collected routes; call it once. Files are normally sorted, and are then put in order in place. */
  finish({ feedSize, pathUses }: RouteCounts): RibFamily {
    const size = this.#size;
    this.#start.push(this.peer.length);
    const from = {
      words: this.#words.view(),
      length: this.#length.view(),
      start: this.#start.view(),
      peer: this.peer.view(),
      path: this.path.view(),
    };
    const order = this.#order(from);
    const to =
      order === null
        ? from
        : {
            words: new Uint32Array(from.words.length),
            length: new Uint8Array(from.length.length),
            start: new Uint32Array(from.start.length),
            peer: new Uint16Array(from.peer.length),
            path: new Uint32Array(from.path.length),
          };
    let prefixes = 0;
    let routes = 0;
    let run = new Float64Array(256);
    const prefixCount = from.length.length;
    for (let first = 0; first < prefixCount; ) {
      const index = order === null ? first : (order[first] as number);
      let used = 0;
      let ascending = true;
      let next = first;
      do {
        const same = order === null ? next : (order[next] as number);
        const end = from.start[same + 1] as number;
        if (used + end - (from.start[same] as number) > run.length) run = grown(run, used + end - (from.start[same] as number));
        for (let route = from.start[same] as number; route < end; route++) {
          const key = (from.peer[route] as number) * peerUnit + (from.path[route] as number);
          if (used > 0 && key <= (run[used - 1] as number)) ascending = false;
          run[used++] = key;
        }
        next++;
      } while (next < prefixCount && compare(from, size, index, order === null ? next : (order[next] as number)) === 0);
      first = next;
      if (!ascending) used = sortedOnce(run, used);
      for (let word = 0; word < size; word++) to.words[prefixes * size + word] = from.words[index * size + word] as number;
      const length = from.length[index] as number;
      to.length[prefixes] = length;
      to.start[prefixes] = routes;
      const feeds = this.#tellsFeed(to.words, prefixes * size, length);
      let before = -1;
      for (let at = 0; at < used; at++) {
        const key = run[at] as number;
        const peer = Math.floor(key / peerUnit);
        const path = key - peer * peerUnit;
        to.peer[routes] = peer;
        to.path[routes++] = path;
        if (length > 0) pathUses[path] = (pathUses[path] as number) + 1;
        if (feeds && peer !== before) feedSize[peer] = (feedSize[peer] as number) + 1;
        before = peer;
      }
      prefixes++;
    }
    to.start[prefixes] = routes;
    if (to !== from) release(...Object.values(from));
    return {
      words: to.words.subarray(0, prefixes * size),
      length: to.length.subarray(0, prefixes),
      start: to.start.subarray(0, prefixes + 1),
      peer: to.peer.subarray(0, routes),
      path: to.path.subarray(0, routes),
    };
  }

  /** Prefix numbers in ascending order of prefixes; null: they already are. */
  #order(columns: { words: Uint32Array; length: Uint8Array }): Uint32Array | null {
    const count = columns.length.length;
    let ascending = true;
    for (let index = 1; ascending && index < count; index++) ascending = compare(columns, this.#size, index - 1, index) <= 0;
    if (ascending) return null;
    return Uint32Array.from(columns.length, (_, index) => index).sort((a, b) => compare(columns, this.#size, a, b) || a - b);
  }

  #tellsFeed(words: Uint32Array, at: number, length: number): boolean {
    const [shortest, longest] = feedLengths[this.#size];
    if (length < shortest || length > longest) return false;
    const [w0, w1, w2, w3] = [words[at] as number, words[at + 1] as number, words[at + 2] as number, words[at + 3] as number];
    const prefix =
      this.#size === 1 ? ({ version: 4, w0, w1: 0, w2: 0, w3: 0, length } as const) : ({ version: 6, w0, w1, w2, w3, length } as const);
    return lookupSpecialPurposePrefix(prefix) === null;
  }
}

/** Order of two prefixes by address, then length. */
function compare({ words, length }: { words: Uint32Array; length: Uint8Array }, size: number, a: number, b: number): number {
  for (let word = 0; word < size; word++) {
    const difference = (words[a * size + word] as number) - (words[b * size + word] as number);
    if (difference !== 0) return difference;
  }
  return (length[a] as number) - (length[b] as number);
}

/** Sorts the first `used` numbers and removes repeated ones; returns how many stay. */
function sortedOnce(run: Float64Array, used: number): number {
  run.subarray(0, used).sort();
  let kept = 0;
  for (let at = 0; at < used; at++) if (kept === 0 || run[at] !== run[kept - 1]) run[kept++] = run[at] as number;
  return kept;
}

function grown(run: Float64Array<ArrayBuffer>, least: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(run.length * 2, least));
  larger.set(run);
  return larger;
}
