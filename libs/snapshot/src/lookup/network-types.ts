/** Network types that lists give for addresses and AS numbers. */

import { type Address, formatPrefix, type Prefix } from "@netfacts/address";
import type { PrefixTrie } from "@netfacts/prefix-trie";
import { numberKey, prefixKey, type SectionRow } from "../diff/section-row.ts";
import {
  hasStatements,
  type NetworkTypeStatement,
  type NetworkTypesColumns,
  noType,
  operatorTypesBasis,
} from "../sections/network-types.ts";
import { stringAt } from "../strings.ts";
import { searchAscending } from "./route-table.ts";

/** A statement with the prefix that it is listed for. */
export interface PrefixStatement extends NetworkTypeStatement {
  readonly prefix: Prefix;
}

/** Immutable; safe from any thread. */
export class NetworkTypeTable {
  readonly #columns: NetworkTypesColumns;
  readonly #trie: PrefixTrie;
  /** Whether the section has more than the operator's types. */
  readonly #hasStatements: boolean;

  constructor(columns: NetworkTypesColumns, trie: PrefixTrie) {
    this.#columns = columns;
    this.#trie = trie;
    this.#hasStatements = hasStatements(columns);
  }

  /** The most specific entry that holds the address, usable as a cache key; -1 when none does. */
  entry(address: Address): number {
    return this.#trie.longest(address);
  }

  /** Whether an entry lies strictly inside the prefix. */
  hasInside(prefix: Prefix): boolean {
    const { start, end } = this.#trie.moreSpecifics(prefix);
    return end > start;
  }

  /** The statements about an address: for each basis, that of the most specific prefix. Longest prefix first, then by basis. */
  ofAddress(address: Address): PrefixStatement[] {
    const found: PrefixStatement[] = [];
    const bases = new Set<string>();
    for (let entry = this.entry(address); entry >= 0; entry = this.#trie.parent(entry)) {
      for (const statement of this.#ofPrefix(entry)) {
        if (bases.has(statement.basis)) continue;
        bases.add(statement.basis);
        found.push({ ...statement, prefix: this.#trie.prefixAt(entry) });
      }
    }
    return found;
  }

  /** The statements about an AS number, by basis. */
  ofAs(asn: number): NetworkTypeStatement[] {
    const at = searchAscending(this.#columns.as_number, asn);
    return at < 0 ? [] : this.#ofAs(at);
  }

  /** Every prefix with its statements, ascending. */
  *prefixes(): Generator<[prefix: Prefix, said: NetworkTypeStatement[]]> {
    for (let entry = 0; entry < this.#trie.size; entry++) yield [this.#trie.prefixAt(entry), this.#ofPrefix(entry)];
  }

  /** Every AS number with its statements, ascending. */
  *asns(): Generator<[asn: number, said: NetworkTypeStatement[]]> {
    const { as_number } = this.#columns;
    for (let at = 0; at < as_number.length; at++) yield [as_number[at] as number, this.#ofAs(at)];
  }

  /** The rows that a comparison of two snapshots uses. */
  *rows(): Generator<SectionRow> {
    for (const [prefix, said] of this.prefixes())
      yield { key: prefixKey(prefix), identity: { prefix: formatPrefix(prefix) }, value: { network_types: said } };
    for (const [asn, said] of this.asns()) yield { key: `as ${numberKey(asn)}`, identity: { asn }, value: { network_types: said } };
  }

  #ofPrefix(entry: number): NetworkTypeStatement[] {
    const { prefix_type, prefix_confidence } = this.#columns;
    return this.#hasStatements ? this.#said(entry) : this.#operators(prefix_type, prefix_confidence, entry);
  }

  #ofAs(at: number): NetworkTypeStatement[] {
    const { as_type, as_confidence, prefix_type } = this.#columns;
    return this.#hasStatements ? this.#said(prefix_type.length + at) : this.#operators(as_type, as_confidence, at);
  }

  #said(item: number): NetworkTypeStatement[] {
    const { said, said_start } = this.#columns;
    return Array.from(said.subarray(said_start[item], said_start[item + 1]), (code) => this.#statement(code));
  }

  #statement(code: number): NetworkTypeStatement {
    const columns = this.#columns;
    const { statement_type_start, statement_text_start } = columns;
    const types = columns.statement_type.subarray(statement_type_start[code], statement_type_start[code + 1]);
    const texts = columns.statement_text.subarray(statement_text_start[code], statement_text_start[code + 1]);
    const table = { start: columns.text_start, bytes: columns.text_bytes };
    const [basis = "", provider = "", region = "", ...services] = Array.from(texts, (text) => stringAt(table, text));
    return {
      types: Array.from(types, (type) => this.#word(type)),
      confidence: (columns.statement_confidence[code] as number) / 100,
      basis,
      provider: provider || null,
      region: region || null,
      services,
    };
  }

  /** Reads the statement from an object of an earlier writer. */
  #operators(types: Uint8Array, confidences: Uint8Array, at: number): NetworkTypeStatement[] {
    const code = types[at] as number;
    if (code === noType) return [];
    const confidence = (confidences[at] as number) / 100;
    return [{ types: [this.#word(code)], confidence, basis: operatorTypesBasis, provider: null, region: null, services: [] }];
  }

  #word(code: number): string {
    return stringAt({ start: this.#columns.type_start, bytes: this.#columns.type_bytes }, code);
  }
}
