/** Locations by address. */

import { type Address, formatPrefix, type Prefix } from "@netfacts/address";
import type { PrefixTrie } from "@netfacts/prefix-trie";
import { countryText } from "../country-code.ts";
import { prefixKey, type SectionRow } from "../diff/section-row.ts";
import { type LocationRecord, type LocationsColumns, noPlace, type Observed, observedOf, type PlaceNames } from "../sections/locations.ts";
import { stringAt } from "../strings.ts";
import { searchAscending } from "./route-table.ts";

/** `observed`: null if the network itself says it. */
export interface LocationFound extends PlaceNames {
  readonly observed: Observed | null;
}

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

  /** The location of an address, null when no entry holds it, or when the most specific one has no place. */
  lookupLocation(address: Address): LocationFound | null {
    const entry = this.entry(address);
    return entry < 0 ? null : this.#location(entry);
  }

  /** The entry of exactly this prefix, null when there is none. */
  lookupRecord(prefix: Prefix): LocationRecord | null {
    const entry = this.#trie.exact(prefix);
    return entry < 0 ? null : this.#record(entry);
  }

  /** The prefix of every entry, ascending. */
  *prefixes(): Generator<Prefix> {
    for (let entry = 0; entry < this.#trie.size; entry++) yield this.#trie.prefixAt(entry);
  }

  /** Every entry, ascending. */
  *records(): Generator<LocationRecord> {
    for (let entry = 0; entry < this.#trie.size; entry++) yield this.#record(entry);
  }

  /** The rows that two snapshots are compared by. */
  *rows(): Generator<SectionRow> {
    const nowhere: PlaceNames = { country: null, region: null, city: null };
    for (const { prefix, place, observed } of this.records())
      yield {
        key: prefixKey(prefix),
        identity: { prefix: formatPrefix(prefix) },
        value: { ...(place ?? nowhere), ...observedValue(observed) },
      };
  }

  #record(entry: number): LocationRecord {
    const location = this.#location(entry);
    const prefix = this.#trie.prefixAt(entry);
    if (location === null) return { prefix, place: null };
    const { observed, ...place } = location;
    return { prefix, place, ...(observed !== null && { observed }) };
  }

  #location(entry: number): LocationFound | null {
    const { place, country, region_start, region_bytes, city_start, city_bytes, observed_entry } = this.#columns;
    const at = place[entry] as number;
    if (at === noPlace) return null;
    const observation = searchAscending(observed_entry, entry);
    return {
      country: countryText(country[at] as number),
      region: stringAt({ start: region_start, bytes: region_bytes }, at) || null,
      city: stringAt({ start: city_start, bytes: city_bytes }, at) || null,
      observed: observation < 0 ? null : observedOf(this.#columns, observation),
    };
  }
}

/** What a diff shows of an observation: not how often and when, which changes all the time. */
function observedValue(observed: Observed | undefined): object {
  if (observed === undefined) return { basis: "geofeed" };
  const { latitude, longitude, radiusKm } = observed;
  return { basis: "observation", latitude, longitude, radius_km: radiusKm };
}
