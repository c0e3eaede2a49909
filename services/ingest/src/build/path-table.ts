/** Distinct AS paths of a RIB: each is stored once, with the origin it names. */

import { originIsPeer, originIsSet, readPathOrigin, readPathSet } from "@netfacts/mrt";

/** What a path says of its origin. */
export const pathOrigin = {
  /** The value is an AS number. */
  as: 0,
  /** The value is the number of an AS_SET in the set table. */
  set: 1,
  /** The origin is the peer's own AS: the path is empty, or ends in a confederation. */
  peer: 2,
} as const;

const initialSlots = 1 << 16;
const initialBytes = 1 << 20;

/** Interns paths by their bytes. One hash and one comparison per call; allocates only for paths not seen before. */
export class PathTable {
  #size = 0;
  #bytes = new Uint8Array(initialBytes);
  #start = new Uint32Array(initialSlots);
  /** Open addressing: path number plus one, 0 = empty. At most half full. */
  #slots = new Uint32Array(initialSlots);
  #hash = new Int32Array(initialSlots);
  #kind = new Uint8Array(initialSlots);
  #value = new Uint32Array(initialSlots);
  readonly #sets = new Map<string, number>();
  readonly #setMembers: number[][] = [];

  get size(): number {
    return this.#size;
  }

  /** Members, ascending, of the AS_SETs met so far. */
  get sets(): readonly (readonly number[])[] {
    return this.#setMembers;
  }

  /** Origin kind of each path. Valid until the next `intern`. */
  get kinds(): Uint8Array {
    return this.#kind;
  }

  /** Origin value of each path. Valid until the next `intern`. */
  get values(): Uint32Array {
    return this.#value;
  }

  /** The number of the path whose segments stand in `bytes[start, end)`. */
  intern(bytes: Uint8Array, start: number, end: number): number {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    hash ^= hash >>> 15;
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot] as number;
      if (found === 0) return this.#add(bytes, start, end, hash, slot);
      if (this.#hash[found - 1] === hash && this.#equals(found - 1, bytes, start, end)) return found - 1;
    }
  }

  /** Bounds of every path's bytes: one more than there are paths. */
  startColumn(): Uint32Array {
    return this.#start.slice(0, this.#size + 1);
  }

  bytesColumn(): Uint8Array {
    return this.#bytes.slice(0, this.#start[this.#size] as number);
  }

  #equals(path: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#start[path] as number;
    if ((this.#start[path + 1] as number) - from !== end - start) return false;
    for (let at = start, stored = from; at < end; at++, stored++) if (bytes[at] !== this.#bytes[stored]) return false;
    return true;
  }

  #add(bytes: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const path = this.#size++;
    const from = this.#start[path] as number;
    if (from + end - start > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#bytes.length * 2, from + end - start));
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes.set(bytes.subarray(start, end), from);
    this.#hash[path] = hash;
    const origin = readPathOrigin(bytes, start, end);
    if (origin === originIsSet) {
      this.#kind[path] = pathOrigin.set;
      this.#value[path] = this.#internSet(readPathSet(bytes, start, end));
    } else if (origin === originIsPeer) {
      this.#kind[path] = pathOrigin.peer;
    } else {
      this.#value[path] = origin;
    }
    this.#slots[slot] = path + 1;
    // The next path's start is written too, so the columns keep one place to spare.
    if (this.#size * 2 >= this.#slots.length) this.#grow();
    this.#start[path + 1] = from + end - start;
    return path;
  }

  #internSet(members: number[]): number {
    const key = members.join();
    let set = this.#sets.get(key);
    if (set === undefined) {
      set = this.#setMembers.push(members) - 1;
      this.#sets.set(key, set);
    }
    return set;
  }

  #grow(): void {
    const length = this.#slots.length * 2;
    const copy = <A extends Uint8Array | Uint32Array | Int32Array>(larger: A, from: A): A => {
      larger.set(from as never);
      return larger;
    };
    this.#start = copy(new Uint32Array(length), this.#start);
    this.#hash = copy(new Int32Array(length), this.#hash);
    this.#kind = copy(new Uint8Array(length), this.#kind);
    this.#value = copy(new Uint32Array(length), this.#value);
    this.#slots = new Uint32Array(length);
    for (let path = 0; path < this.#size; path++) {
      let slot = (this.#hash[path] as number) & (length - 1);
      while (this.#slots[slot] !== 0) slot = (slot + 1) & (length - 1);
      this.#slots[slot] = path + 1;
    }
  }
}
