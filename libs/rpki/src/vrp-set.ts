/** A set of VRPs over a prefix trie: finds those that cover a prefix, those inside it, and the state of a route. */
// Entries and VRP numbers stay below the arrays' lengths, so `!` on an element only drops `undefined` from its type.

import type { Prefix } from "@netfacts/address";
import { PrefixTrie } from "@netfacts/prefix-trie";
import { type OriginState, originStates } from "./origin-state.ts";
import type { Vrp } from "./vrp.ts";
import { encodeWithTrie, taNone, type VrpColumns } from "./vrp-columns.ts";

/** VRP numbers `start` to `end - 1`. */
export interface VrpRange {
  readonly start: number;
  readonly end: number;
}

/**
 * An immutable set of VRPs, numbered 0 to size − 1 ascending by (prefix, max length, AS), IPv4 first.
 *
 * `originState` allocates nothing; the others create the `Vrp` objects that they return. An origin AS of 0 stands for a path that ends in an AS_SET:
 * no VRP matches it, as AS 0 may not originate anything (RFC 7607).
 *
 * Concurrency: nothing is written after construction; read from any thread that has the columns and the trie's parts.
 */
export class VrpSet {
  readonly columns: VrpColumns;
  readonly taNames: readonly string[];
  readonly trie: PrefixTrie;
  readonly size: number;

  // Columns of the inner loop, without an indirection.
  readonly #start: Uint32Array;
  readonly #asn: Uint32Array;
  readonly #maxLength: Uint8Array;

  private constructor(columns: VrpColumns, taNames: readonly string[], trie: PrefixTrie) {
    this.columns = columns;
    this.taNames = taNames;
    this.trie = trie;
    this.size = columns.asn.length;
    this.#start = columns.start;
    this.#asn = columns.asn;
    this.#maxLength = columns.maxLength;
  }

  /** Sorts VRPs into a set; duplicates and errors as in `encodeVrpColumns`. */
  static from(vrps: Iterable<Vrp>): VrpSet {
    const { columns, taNames, trie } = encodeWithTrie(vrps);
    return new VrpSet(columns, taNames, trie);
  }

  /**
   * Reads columns in place; they must not change any more, and neither they nor the names are checked. `trie` is the one of `columns.prefixes`, if it
   * exists already. Throws `PrefixOrderError` if it must build one and the prefixes are not in order.
   */
  static fromColumns(columns: VrpColumns, taNames: readonly string[], trie?: PrefixTrie): VrpSet {
    return new VrpSet(columns, taNames, trie ?? PrefixTrie.build(columns.prefixes, { ipv4: "compact" }));
  }

  /** A VRP by its number, as a new object. Cost: a search of the prefixes. */
  vrpAt(index: number): Vrp {
    let low = 0;
    let high = this.trie.size;
    // Finds the last entry whose VRPs start at or before the number: every entry has at least one VRP.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#start[middle]! <= index) low = middle + 1;
      else high = middle;
    }
    return this.#vrp(index, this.trie.prefixAt(low - 1));
  }

  /** Every VRP whose prefix equals or covers the prefix, ascending by (prefix, max length, AS). Cost: a longest match and the answer. */
  covering(prefix: Prefix): Vrp[] {
    const chain: number[] = [];
    for (let entry = this.trie.covering(prefix); entry >= 0; entry = this.trie.parent(entry)) chain.push(entry);
    return chain.reverse().flatMap((entry) => this.#vrpsOf(entry));
  }

  /** Every VRP whose prefix lies strictly inside the prefix, ascending. Cost: the answer, which is the whole set for a default route. */
  moreSpecifics(prefix: Prefix): Vrp[] {
    const { start, end } = this.trie.moreSpecifics(prefix);
    const vrps: Vrp[] = [];
    for (let entry = start; entry < end; entry++) for (const vrp of this.#vrpsOf(entry)) vrps.push(vrp);
    return vrps;
  }

  /** The numbers of `moreSpecifics`, which are consecutive: to count them, or to read some with `vrpAt`. Cost: a longest match or two searches. */
  moreSpecificRange(prefix: Prefix): VrpRange {
    const { start, end } = this.trie.moreSpecifics(prefix);
    return { start: this.#start[start]!, end: this.#start[end]! };
  }

  /** Number of IPv4 VRPs: they have the numbers below this one. */
  get ipv4Size(): number {
    return this.#start[this.trie.ipv4Count]!;
  }

  /** The numbers of the VRPs that make a route valid. Cost: a longest match, and a step for each VRP that covers the route and allows its length. */
  matching(prefix: Prefix, originAs: number): number[] {
    const numbers: number[] = [];
    if (originAs === 0) return numbers;
    for (let entry = this.trie.covering(prefix); entry >= 0; entry = this.trie.parent(entry)) {
      const first = this.#start[entry]!;
      for (let vrp = this.#start[entry + 1]! - 1; vrp >= first && this.#maxLength[vrp]! >= prefix.length; vrp--)
        if (this.#asn[vrp]! === originAs) numbers.push(vrp);
    }
    return numbers;
  }

  /**
   * The state of a route; `validateOrigin` has the lists that explain it. Null and 0: an origin that no VRP matches. Cost: a longest match and a step
   * for each VRP that covers the route and allows its length.
   */
  originState(prefix: Prefix, originAs: number | null): OriginState {
    const entry = this.trie.covering(prefix);
    if (entry < 0) return originStates.notFound;
    const { length } = prefix;
    // No VRP matches AS 0 or a path without an origin.
    const matched = originAs || -1;
    const start = this.#start;
    const maxLength = this.#maxLength;
    const asn = this.#asn;
    let state: OriginState = originStates.invalidLength;
    for (let at = entry; at >= 0; at = this.trie.parent(at)) {
      const first = start[at]!;
      // Max lengths ascend: if one is too short, all before it are, too.
      for (let vrp = start[at + 1]! - 1; vrp >= first && maxLength[vrp]! >= length; vrp--) {
        if (asn[vrp]! === matched) return originStates.valid;
        state = originStates.invalidAs;
      }
    }
    return state;
  }

  #vrpsOf(entry: number): Vrp[] {
    const prefix = this.trie.prefixAt(entry);
    const vrps: Vrp[] = [];
    for (let index = this.#start[entry]!; index < this.#start[entry + 1]!; index++) vrps.push(this.#vrp(index, prefix));
    return vrps;
  }

  #vrp(index: number, prefix: Prefix): Vrp {
    const { asn, maxLength, ta, expiresAt, loose } = this.columns;
    const name = ta[index]!;
    return {
      asn: asn[index]!,
      prefix,
      maxLength: maxLength[index]!,
      ta: name === taNone ? null : this.taNames[name]!,
      expiresAt: expiresAt[index]! === 0 ? null : expiresAt[index]!,
      loose: loose[index] === 1,
    };
  }
}
