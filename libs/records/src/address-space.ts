/** Sums over prefixes: merged without adding space, and without counting overlaps twice. */

import type { Prefix } from "@netfacts/address";

/** The row of a merged prefix, which is made of several prefixes. */
export const mergedRow = -1;

/**
 * The union of prefixes of one version: the fewest prefixes that hold exactly the same space, ascending.
 *
 * Cost: 21 bytes for each prefix of `room`, and a step or two for each prefix that is added.
 */
export class MergedSpace {
  /** Number of prefixes in the union. */
  size = 0;
  /** Number and shortest length of the added prefixes; null: none was added. */
  added = 0;
  shortest: number | null = null;
  readonly #version: 4 | 6;
  readonly #words: Uint32Array;
  readonly #length: Uint8Array;
  readonly #row: Int32Array;

  /** `room`: the most prefixes that will be added. */
  constructor(version: 4 | 6, room: number) {
    this.#version = version;
    this.#words = new Uint32Array(room * 4);
    this.#length = new Uint8Array(room);
    this.#row = new Int32Array(room);
  }

  /** Adds a prefix of this version; prefixes must be added in ascending order of (address, length). `row` is the caller's number for it. */
  add(prefix: Prefix, row: number): void {
    this.added++;
    if (this.shortest === null || prefix.length < this.shortest) this.shortest = prefix.length;
    if (this.size > 0 && this.#holds(this.size - 1, prefix)) return;
    this.#put(prefix, row);
    // Merges two halves into their whole, which may be the second half of a larger one.
    while (this.size > 1 && this.#isHalved(this.size - 2)) {
      this.size--;
      this.#length[this.size - 1] = (this.#length[this.size - 1] as number) - 1;
      this.#row[this.size - 1] = mergedRow;
    }
  }

  /** A prefix of the union, by its index from 0. */
  prefixAt(at: number): Prefix {
    const [w0, w1, w2, w3] = this.#words.subarray(at * 4, at * 4 + 4) as unknown as [number, number, number, number];
    return { version: this.#version, w0, w1, w2, w3, length: this.#length[at] as number };
  }

  /** The row of a prefix that was added unchanged; otherwise `mergedRow`. */
  rowAt(at: number): number {
    return this.#row[at] as number;
  }

  /** Number of IPv4 addresses in the union. */
  countAddresses(): number {
    let sum = 0;
    for (let at = 0; at < this.size; at++) sum += 2 ** (32 - (this.#length[at] as number));
    return sum;
  }

  /** Number of distinct /48s that the union touches, for IPv6. */
  countSlash48s(): number {
    let sum = 0;
    let last = -1;
    for (let at = 0; at < this.size; at++) {
      const length = this.#length[at] as number;
      // Several prefixes longer than /48 may be in one /48.
      const slash48 = (this.#words[at * 4] as number) * 0x1_0000 + ((this.#words[at * 4 + 1] as number) >>> 16);
      if (length <= 48) sum += 2 ** (48 - length);
      else if (slash48 !== last) sum++;
      last = slash48;
    }
    return sum;
  }

  #put({ w0, w1, w2, w3, length }: Prefix, row: number): void {
    const words = this.#words;
    const at = this.size++;
    words[at * 4] = w0;
    words[at * 4 + 1] = w1;
    words[at * 4 + 2] = w2;
    words[at * 4 + 3] = w3;
    this.#length[at] = length;
    this.#row[at] = row;
  }

  /** Whether the prefix at an index contains this prefix, which must not come before it. */
  #holds(at: number, { w0, w1, w2, w3 }: Prefix): boolean {
    const words = this.#words;
    const length = this.#length[at] as number;
    return (
      sameBits(words[at * 4] as number, w0, length) &&
      sameBits(words[at * 4 + 1] as number, w1, length - 32) &&
      sameBits(words[at * 4 + 2] as number, w2, length - 64) &&
      sameBits(words[at * 4 + 3] as number, w3, length - 96)
    );
  }

  /** Whether the prefixes at this index and at the next are the two halves of one prefix: they differ only in the last bit of their length. */
  #isHalved(at: number): boolean {
    const length = this.#length[at] as number;
    if (length !== this.#length[at + 1] || length === 0) return false;
    const lastWord = (length - 1) >>> 5;
    for (let word = 0; word <= lastWord; word++) {
      const differing = (this.#words[at * 4 + word] as number) ^ (this.#words[at * 4 + 4 + word] as number);
      if (differing !== (word === lastWord ? 1 << (31 - ((length - 1) & 31)) : 0)) return false;
    }
    return true;
  }
}

/** Whether the leading bits of two words are equal. 32 or more: all bits count; 0 or less: none. */
function sameBits(a: number, b: number, bits: number): boolean {
  return bits <= 0 || (bits >= 32 ? a === b : (a ^ b) >>> (32 - bits) === 0);
}
