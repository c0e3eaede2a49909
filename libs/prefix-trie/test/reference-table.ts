/** The oracle: a list of prefixes, searched from one end to the other, over bit strings. */

import type { Address, Prefix } from "@netfacts/address";

/** The address as a string of 32 or 128 binary digits. */
export function bitsOf(address: Address): string {
  const words = address.version === 4 ? [address.w0] : [address.w0, address.w1, address.w2, address.w3];
  return words.map((word) => (word >>> 0).toString(2).padStart(32, "0")).join("");
}

interface Row {
  readonly version: 4 | 6;
  /** The prefix's own bits only. */
  readonly bits: string;
}

const rowOf = (prefix: Prefix): Row => ({ version: prefix.version, bits: bitsOf(prefix).slice(0, prefix.length) });
const covers = (outer: Row, inner: Row): boolean => outer.version === inner.version && inner.bits.startsWith(outer.bits);

/** Slow and obvious on purpose. Entries are numbered as the trie numbers them. */
export class ReferenceTable {
  readonly rows: readonly Row[];

  constructor(prefixes: readonly Prefix[]) {
    const unique = new Map(prefixes.map((prefix) => [`${prefix.version} ${rowOf(prefix).bits}`, prefix]));
    this.rows = [...unique.values()]
      .sort((a, b) => a.version - b.version || (bitsOf(a) < bitsOf(b) ? -1 : bitsOf(a) > bitsOf(b) ? 1 : a.length - b.length))
      .map(rowOf);
  }

  longest(address: Address): number {
    return this.#last({ version: address.version, bits: bitsOf(address) });
  }

  exact(prefix: Prefix): number {
    const asked = rowOf(prefix);
    return this.rows.findIndex((row) => row.version === asked.version && row.bits === asked.bits);
  }

  covering(prefix: Prefix): number {
    return this.#last(rowOf(prefix));
  }

  /** All entries equal to the prefix or covering it, most specific first. */
  coveringChain(prefix: Prefix): number[] {
    const asked = rowOf(prefix);
    return this.rows.flatMap((row, entry) => (covers(row, asked) ? [entry] : [])).reverse();
  }

  parent(entry: number): number {
    const asked = this.rows[entry] as Row;
    return this.#last(asked, asked.bits.length - 1);
  }

  moreSpecifics(prefix: Prefix): number[] {
    const asked = rowOf(prefix);
    return this.rows.flatMap((row, entry) => (covers(asked, row) && row.bits !== asked.bits ? [entry] : []));
  }

  /** The longest entry of at most `lengthMax` that covers the row. */
  #last(asked: Row, lengthMax = 128): number {
    let best = -1;
    this.rows.forEach((row, entry) => {
      if (row.bits.length <= lengthMax && covers(row, asked) && (best < 0 || row.bits.length > (this.rows[best] as Row).bits.length))
        best = entry;
    });
    return best;
  }
}
