/** Addresses that are processed together, as columns: no object per address. */
// Indexes stay below `count`, so `!` on an element only drops `undefined` from its type.

import { parseIpv4 } from "./ipv4.ts";
import { readIpv6Words } from "./ipv6.ts";
import type { Address } from "./types.ts";

/** A list that is filled, read and cleared repeatedly; it grows to the longest size and keeps it. Must not be shared between threads. */
export class AddressList {
  #count = 0;
  #versions = new Uint8Array(64);
  #words = new Uint32Array(64 * 4);
  readonly #texts: string[] = [];

  get count(): number {
    return this.#count;
  }

  /** 4 or 6 for each address. Like `words` and `texts`, invalid after the next `add`. */
  get versions(): Uint8Array {
    return this.#versions;
  }

  /** Four words per address, as in `Address`. */
  get words(): Uint32Array {
    return this.#words;
  }

  /** Texts in the form of `formatAddress`. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  /**
   * Adds the address that `parseAddress` reads from a whole text; returns false if there is none. Allocates nothing if the text is in the form of
   * `formatAddress`, as it is kept then.
   */
  add(text: string): boolean {
    const at = this.#count;
    if (at === this.#versions.length) this.#grow();
    const value = parseIpv4(text);
    if (value >= 0) {
      // A dotted quad has one form only.
      this.#versions[at] = 4;
      this.#words[at * 4] = value;
      this.#texts[at] = text;
    } else {
      const canonical = readIpv6Words(text, this.#words, at * 4);
      if (canonical === null) return false;
      this.#versions[at] = 6;
      this.#texts[at] = canonical;
    }
    this.#count = at + 1;
    return true;
  }

  /** The address at an index. */
  at(index: number): Address {
    const words = this.#words;
    const first = index * 4;
    if (this.#versions[index] === 4) return { version: 4, w0: words[first]!, w1: 0, w2: 0, w3: 0 };
    return { version: 6, w0: words[first]!, w1: words[first + 1]!, w2: words[first + 2]!, w3: words[first + 3]! };
  }

  clear(): void {
    this.#count = 0;
  }

  #grow(): void {
    const versions = new Uint8Array(this.#count * 2);
    versions.set(this.#versions);
    this.#versions = versions;
    const words = new Uint32Array(this.#count * 8);
    words.set(this.#words);
    this.#words = words;
  }
}
