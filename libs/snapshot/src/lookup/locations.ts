/** Locations by address. */

import { type Address, formatPrefix, type Prefix } from "@netfacts/address";
import type { PrefixTrie } from "@netfacts/prefix-trie";
import { countryText } from "../country-code.ts";
import { prefixKey, type SectionRow } from "../diff/section-row.ts";
import { type LocationRecord, type LocationsColumns, noPlace, type PlaceNames } from "../sections/locations.ts";
import { stringAt } from "../strings.ts";

/** Immutable; safe from any thread. */
export class LocationTable {
  readonly #columns: LocationsColumns;
  readonly #trie: PrefixTrie;

  constructor(columns: LocationsColumns, trie: PrefixTrie) {
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

  /** The place of an address, null when no entry holds it, or when the most specific one has no place. */
  lookupPlace(address: Address): PlaceNames | null {
    const entry = this.entry(address);
    return entry < 0 ? null : this.#place(entry);
  }

  /** The entry of exactly this prefix, null when there is none. */
  lookupRecord(prefix: Prefix): LocationRecord | null {
    const entry = this.#trie.exact(prefix);
    return entry < 0 ? null : { prefix, place: this.#place(entry) };
  }

  /** Every entry, ascending. */
  *records(): Generator<LocationRecord> {
    for (let entry = 0; entry < this.#trie.size; entry++) yield { prefix: this.#trie.prefixAt(entry), place: this.#place(entry) };
  }

  /** The rows that two snapshots are compared by. */
  *rows(): Generator<SectionRow> {
    const nowhere: PlaceNames = { country: null, region: null, city: null };
    for (const { prefix, place } of this.records())
      yield { key: prefixKey(prefix), identity: { prefix: formatPrefix(prefix) }, value: { ...(place ?? nowhere) } };
  }

  #place(entry: number): PlaceNames | null {
    const { place, country, region_start, region_bytes, city_start, city_bytes } = this.#columns;
    const at = place[entry] as number;
    if (at === noPlace) return null;
    return {
      country: countryText(country[at] as number),
      region: stringAt({ start: region_start, bytes: region_bytes }, at) || null,
      city: stringAt({ start: city_start, bytes: city_bytes }, at) || null,
    };
  }
}
