/** RFC 6811 without a trie: one hash table per prefix length, asked for every length up to the route's. The oracle where linear is too slow. */

import type { Prefix } from "@netfacts/address";
import type { OriginState, Vrp } from "../src/index.ts";

type Entry = Pick<Vrp, "asn" | "maxLength">;

export class ByLengthRule {
  readonly #ipv4 = Array.from({ length: 33 }, () => new Map<number, Entry[]>());
  readonly #ipv6 = Array.from({ length: 129 }, () => new Map<string, Entry[]>());

  constructor(vrps: Iterable<Vrp>) {
    for (const { prefix, asn, maxLength } of vrps) {
      const { version, w0, w1, w2, w3, length } = prefix;
      if (version === 4) add(this.#ipv4[length] as Map<number, Entry[]>, w0, { asn, maxLength });
      else add(this.#ipv6[length] as Map<string, Entry[]>, key6(w0, w1, w2, w3, length), { asn, maxLength });
    }
  }

  /** The state of a route, as `originStates` numbers it; origin 0 for an AS_SET. */
  state({ version, w0, w1, w2, w3, length }: Prefix, origin: number): OriginState {
    let state: OriginState = 0;
    const families = version === 4 ? this.#ipv4 : this.#ipv6;
    for (let bits = 0; bits <= length; bits++) {
      if (families[bits]?.size === 0) continue;
      const entries = version === 4 ? this.#ipv4[bits]?.get(masked(w0, bits)) : this.#ipv6[bits]?.get(key6(w0, w1, w2, w3, bits));
      for (const { asn, maxLength } of entries ?? []) {
        if (maxLength < length) state = state === 0 ? 3 : state;
        else if (asn === origin && asn !== 0) return 1;
        else state = 2;
      }
    }
    return state;
  }
}

function add<K>(table: Map<K, Entry[]>, key: K, entry: Entry): void {
  const held = table.get(key);
  if (held === undefined) table.set(key, [entry]);
  else held.push(entry);
}

function masked(word: number, bits: number): number {
  return bits <= 0 ? 0 : bits >= 32 ? word : (word & (-1 << (32 - bits))) >>> 0;
}

function key6(w0: number, w1: number, w2: number, w3: number, bits: number): string {
  if (bits <= 64) return `${masked(w0, bits)}.${masked(w1, bits - 32)}`;
  return `${w0}.${w1}.${masked(w2, bits - 64)}.${masked(w3, bits - 96)}`;
}
