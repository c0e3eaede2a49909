/** Distinct AS paths of a RIB, each stored once. */

import { hashBytes } from "@netfacts/address";
import { release } from "@netfacts/snapshot";

const initialCapacity = 1 << 12;
const initialBytes = 1 << 16;
/** Slots are at most three quarters full. */
const fullShare = 0.75;

/** Interns paths by their bytes. One hash and, for a path seen before, one comparison per call. */
export class PathTable {
  #size = 0;
  #bytes = new Uint8Array(initialBytes);
  #start = new Uint32Array(initialCapacity);
  /** Open addressing, two words per slot: hash, and path number plus one, 0 = empty. */
  #slots = new Uint32Array(initialCapacity * 2);

  get size(): number {
    return this.#size;
  }

  /** Bounds of every path's bytes: one more than there are paths. Valid until the next `intern`. */
  get start(): Uint32Array<ArrayBuffer> {
    return this.#start.subarray(0, this.#size + 1);
  }

  /** The paths one behind the other. Valid until the next `intern`. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(0, this.#start[this.#size]);
  }

  /** The number of the path whose segments stand in `bytes[start, end)`. @param hash  its `hashBytes`. */
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
   * Reads what `intern` will read first of the paths with these hashes, without waiting for one before the next: what lies far in memory
   * is then near. @returns a sum without meaning, so that the reads are not idle.
   */
  approach(hashes: Uint32Array, count: number): number {
    const slots = this.#slots;
    const start = this.#start;
    const bytes = this.#bytes;
    const mask = slots.length / 2 - 1;
    let sum = 0;
    for (let at = 0; at < count; at++) sum += slots[((hashes[at] as number) & mask) * 2 + 1] as number;
    // An empty slot leads to the first path, and any other to where its path ends: the line in memory is what counts.
    for (let at = 0; at < count; at++) sum += bytes[start[slots[((hashes[at] as number) & mask) * 2 + 1] as number] as number] as number;
    return sum;
  }

  /** Gives back what only `intern` needs; it must not be called again. */
  seal(): void {
    release(this.#slots);
  }

  /** Gives all memory back; nothing may be asked any more. */
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

  /** Doubles the slots. */
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
