/** Distinct AS paths of a RIB, each stored once. */

import { hashBytes } from "@netfacts/address";
import { release } from "@netfacts/snapshot";

const initialCapacity = 1 << 12;
const initialBytes = 1 << 16;
/** Largest share of slots in use. */
const fullShare = 0.75;

/** Interns paths by their bytes. Cost of a call: one hash, and one comparison for a known path. */
export class PathTable {
  #size = 0;
  #bytes = new Uint8Array(initialBytes);
  #start = new Uint32Array(initialCapacity);
  /** Open addressing, two words per slot: hash, and path number plus one; 0: empty. */
  #slots = new Uint32Array(initialCapacity * 2);

  get size(): number {
    return this.#size;
  }

  /** Bounds of every path's bytes: one more than there are paths. Valid until the next `intern`. */
  get start(): Uint32Array<ArrayBuffer> {
    return this.#start.subarray(0, this.#size + 1);
  }

  /** The bytes of all paths, one after another. Valid until the next `intern`. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#start[this.#size]);
  }

  /** The number of the path whose segments are in `bytes[start, end)`. @param hash  its `hashBytes` */
  intern(bytes: Uint8Array, start: number, end: number, hash = hashBytes(bytes, start, end)): number {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot * 2 + 1] as number;
      if (found === 0) return this.#add(bytes, start, end, hash, slot);
      if (slots[slot * 2] === hash && this.#equals(found - 1, bytes, start, end)) return found - 1;
    }
  }

  /**
   * Loads into the cache what `intern` will read first for the paths with these hashes; the reads do not wait for each other.
   *
   * @returns a sum without meaning, so that the engine does not remove the reads.
   */
  approach(hashes: Uint32Array, count: number): number {
    const slots = this.#slots;
    const start = this.#start;
    const bytes = this.#bytes;
    const mask = slots.length / 2 - 1;
    let sum = 0;
    for (let at = 0; at < count; at++) sum += slots[((hashes[at] as number) & mask) * 2 + 1] as number;
    // An empty slot leads to the first path, any other one to the end of its path: only the cache line matters.
    for (let at = 0; at < count; at++) sum += bytes[start[slots[((hashes[at] as number) & mask) * 2 + 1] as number] as number] as number;
    return sum;
  }

  /** Releases the memory that only `intern` needs; do not call `intern` again. */
  seal(): void {
    release(this.#slots);
  }

  /** Releases all memory; do not use the table again. */
  release(): void {
    release(this.#slots, this.#start, this.#bytes);
  }

  #equals(path: number, bytes: Uint8Array, start: number, end: number): boolean {
    const from = this.#start[path] as number;
    if ((this.#start[path + 1] as number) - from !== end - start) return false;
    const stored = this.#bytes;
    for (let at = start, known = from; at < end; at++, known++) if (bytes[at] !== stored[known]) return false;
    return true;
  }

  #add(bytes: Uint8Array, start: number, end: number, hash: number, slot: number): number {
    const path = this.#size++;
    const from = this.#start[path] as number;
    const to = from + end - start;
    if (to > this.#bytes.length) this.#bytes = larger(this.#bytes, new Uint8Array(Math.max(this.#bytes.length * 2, to)));
    const stored = this.#bytes;
    for (let at = start, into = from; at < end; at++, into++) stored[into] = bytes[at] as number;
    if (this.#size === this.#start.length) this.#start = larger(this.#start, new Uint32Array(this.#size * 2));
    this.#start[this.#size] = to;
    this.#slots[slot * 2] = hash;
    this.#slots[slot * 2 + 1] = this.#size;
    if (this.#size > (this.#slots.length / 2) * fullShare) this.#spread();
    return path;
  }

  /** Doubles the number of slots. */
  #spread(): void {
    const before = this.#slots;
    const slots = new Uint32Array(before.length * 2);
    const mask = slots.length / 2 - 1;
    for (let at = 0; at < before.length; at += 2) {
      const number = before[at + 1] as number;
      if (number === 0) continue;
      const hash = before[at] as number;
      let slot = hash & mask;
      while (slots[slot * 2 + 1] !== 0) slot = (slot + 1) & mask;
      slots[slot * 2] = hash;
      slots[slot * 2 + 1] = number;
    }
    release(before);
    this.#slots = slots;
  }
}

function larger<A extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(from: A, to: A): A {
  to.set(from);
  release(from);
  return to;
}
