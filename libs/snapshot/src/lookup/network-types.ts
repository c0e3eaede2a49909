/** The operator's network types, by address and by AS number. */

import { type Address, formatPrefix, type Prefix } from "@netfacts/address";
import type { PrefixTrie } from "@netfacts/prefix-trie";
import { numberKey, prefixKey, type SectionRow } from "../diff/section-row.ts";
import { type NetworkTypesColumns, noType, type TypeOf } from "../sections/network-types.ts";
import { stringAt } from "../strings.ts";
import { searchAscending } from "./route-table.ts";

/** Immutable; safe from any thread. */
export class NetworkTypeTable {
  readonly #columns: NetworkTypesColumns;
  readonly #trie: PrefixTrie;

  constructor(columns: NetworkTypesColumns, trie: PrefixTrie) {
    this.#columns = columns;
    this.#trie = trie;
  }

  /** The most specific entry that holds the address, -1 when none does: what a cache may go by. */
  entry(address: Address): number {
    return this.#trie.longest(address);
  }

  /** Whether an entry lies strictly inside the prefix. */
  hasInside(prefix: Prefix): boolean {
    const { start, end } = this.#trie.moreSpecifics(prefix);
    return end > start;
  }

  /** The type of an address, null when no entry holds it. */
  ofAddress(address: Address): TypeOf | null {
    const entry = this.entry(address);
    return entry < 0 ? null : this.#type(this.#columns.prefix_type, this.#columns.prefix_confidence, entry);
  }

  /** The type of an AS, null when none is told. */
  ofAs(asn: number): TypeOf | null {
    const at = searchAscending(this.#columns.as_number, asn);
    return at < 0 ? null : this.#type(this.#columns.as_type, this.#columns.as_confidence, at);
  }

  /** Every prefix with its type, ascending. */
  *prefixes(): Generator<[prefix: Prefix, type: TypeOf | null]> {
    const { prefix_type, prefix_confidence } = this.#columns;
    for (let entry = 0; entry < this.#trie.size; entry++)
      yield [this.#trie.prefixAt(entry), this.#type(prefix_type, prefix_confidence, entry)];
  }

  /** Every AS number with its type, ascending. */
  *asns(): Generator<[asn: number, type: TypeOf | null]> {
    const { as_number, as_type, as_confidence } = this.#columns;
    for (let at = 0; at < as_number.length; at++) yield [as_number[at] as number, this.#type(as_type, as_confidence, at)];
  }

  /** The rows that two snapshots are compared by. */
  *rows(): Generator<SectionRow> {
    for (const [prefix, type] of this.prefixes())
      yield { key: prefixKey(prefix), identity: { prefix: formatPrefix(prefix) }, value: { ...type } };
    for (const [asn, type] of this.asns()) yield { key: `as ${numberKey(asn)}`, identity: { asn }, value: { ...type } };
  }

  #type(types: Uint8Array, confidences: Uint8Array, at: number): TypeOf | null {
    const code = types[at] as number;
    if (code === noType) return null;
    const type = stringAt({ start: this.#columns.type_start, bytes: this.#columns.type_bytes }, code);
    return { type, confidence: (confidences[at] as number) / 100 };
  }
}
