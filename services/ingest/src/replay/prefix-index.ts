/** Numbers for prefixes of both families, in the order of their first appearance. */

import { hashWords, type Prefix } from "@netfacts/address";
import { release } from "@netfacts/snapshot";

const initialCapacity = 1 << 12;
/** Largest share of slots in use. */
const fullShare = 0.75;
/** Version and length share a number: values from 64 on are lengths of IPv6. */
const ipv6From = 64;
/** The words of a prefix that are hashed. */
const hashed = new Uint32Array(5);

/** Cost of a call: one hash, and one comparison for a known prefix. Takes 20 bytes a prefix, and 8 to 11 for slots. */
export class PrefixIndex {
  #size = 0;
  #words = new Uint32Array(initialCapacity * 4);
  #kind = new Uint8Array(initialCapacity);
  /** Open addressing: prefix number plus one; 0: empty. */
  #slots = new Uint32Array(initialCapacity * 2);

  get size(): number {
    return this.#size;
  }

  /** The number of a prefix, whose bits after the length must be 0; a new one if the prefix is new. */
  add(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number): number {
    const kind = version === 4 ? length : ipv6From + length;
    const slot = this.#slot(kind, w0, w1, w2, w3);
    const found = this.#slots[slot] as number;
    if (found > 0) return found - 1;
    const number = this.#size++;
    if (number === this.#kind.length) {
      this.#words = grown(this.#words, new Uint32Array(this.#words.length * 2));
      this.#kind = grown(this.#kind, new Uint8Array(this.#kind.length * 2));
    }
    this.#words.set([w0, w1, w2, w3], number * 4);
    this.#kind[number] = kind;
    this.#slots[slot] = this.#size;
    if (this.#size > this.#slots.length * fullShare) this.#spread();
    return number;
  }

  /** -1: the prefix is unknown. */
  find({ version, w0, w1, w2, w3, length }: Prefix): number {
    return (this.#slots[this.#slot(version === 4 ? length : ipv6From + length, w0, w1, w2, w3)] as number) - 1;
  }

  at(number: number): Prefix {
    const kind = this.#kind[number] as number;
    const [w0 = 0, w1 = 0, w2 = 0, w3 = 0] = this.#words.subarray(number * 4, number * 4 + 4);
    return kind < ipv6From ? { version: 4, w0, w1, w2, w3, length: kind } : { version: 6, w0, w1, w2, w3, length: kind - ipv6From };
  }

  /** All numbers, in ascending order of version, address and length. */
  sorted(): Uint32Array {
    const words = this.#words;
    const kind = this.#kind;
    return Uint32Array.from({ length: this.#size }, (_, number) => number).sort((a, b) => {
      const [kindA, kindB] = [kind[a] as number, kind[b] as number];
      if (kindA < ipv6From !== kindB < ipv6From) return kindA - kindB;
      for (let word = 0; word < 4; word++) {
        const difference = (words[a * 4 + word] as number) - (words[b * 4 + word] as number);
        if (difference !== 0) return difference;
      }
      return kindA - kindB;
    });
  }

  /** Releases the memory; do not use the index again. */
  release(): void {
    release(this.#words, this.#kind, this.#slots);
  }

  /** The slot of the prefix, or the free slot for it. */
  #slot(kind: number, w0: number, w1: number, w2: number, w3: number): number {
    hashed[0] = kind;
    hashed[1] = w0;
    hashed[2] = w1;
    hashed[3] = w2;
    hashed[4] = w3;
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = hashWords(hashed) & mask; ; slot = (slot + 1) & mask) {
      const number = (slots[slot] as number) - 1;
      if (number < 0) return slot;
      const at = number * 4;
      const words = this.#words;
      if (this.#kind[number] === kind && words[at] === w0 && words[at + 1] === w1 && words[at + 2] === w2 && words[at + 3] === w3)
        return slot;
    }
  }

  /** Doubles the number of slots. */
  #spread(): void {
    const { length } = this.#slots;
    release(this.#slots);
    this.#slots = new Uint32Array(length * 2);
    for (let number = 0; number < this.#size; number++) {
      const [w0 = 0, w1 = 0, w2 = 0, w3 = 0] = this.#words.subarray(number * 4, number * 4 + 4);
      this.#slots[this.#slot(this.#kind[number] as number, w0, w1, w2, w3)] = number + 1;
    }
  }
}

function grown<A extends Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>>(from: A, to: A): A {
  to.set(from);
  release(from);
  return to;
}
