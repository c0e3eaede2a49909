/** Distinct AS paths of a RIB, each stored once. */

import { release } from "@netfacts/dataset";

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

  /** The number of the path whose segments stand in `bytes[start, end)`. */
  intern(bytes: Uint8Array, start: number, end: number): number {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    hash = (hash ^ (hash >>> 15)) >>> 0;
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = slots[slot * 2 + 1] as number;
      if (found === 0) return this.#add(bytes, start, end, hash, slot);
      if (slots[slot * 2] === hash && this.#equals(found - 1, bytes, start, end)) return found - 1;
    }
  }

  /** Gives back what only `intern` needs; it must not be called again. */
  seal(): void {
    release(this.#slots);
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
    const to = from + end - start;
    if (to > this.#bytes.length) this.#bytes = larger(this.#bytes, new Uint8Array(Math.max(this.#bytes.length * 2, to)));
    for (let at = start, stored = from; at < end; at++, stored++) this.#bytes[stored] = bytes[at] as number;
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
