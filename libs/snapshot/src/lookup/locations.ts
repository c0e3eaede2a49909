/** Locations by address. */

import { type Address, formatPrefix, type Prefix } from "@netfacts/address";
import type { PrefixTrie } from "@netfacts/prefix-trie";
import { countryText } from "../country-code.ts";
import { prefixKey, type SectionRow } from "../diff/section-row.ts";
import {
  hasOutliers,
  type LocationRecord,
  type LocationsColumns,
  noDistance,
  noPlace,
  type Observed,
  type OutlierPlace,
  type Outliers,
  observedOf,
  type PlaceNames,
} from "../sections/locations.ts";
import { stringAt } from "../strings.ts";
import { searchAscending } from "./route-table.ts";

/** `observed`: null if the location comes from the network itself. */
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

  /** The most specific entry that holds the address, usable as a cache key; -1 when none does. */
  entry(address: Address): number {
    return this.#trie.longest(address);
  }

  /** Whether an entry lies strictly inside the prefix. */
  hasInside(prefix: Prefix): boolean {
    const { start, end } = this.#trie.moreSpecifics(prefix);
    return end > start;
  }

  /** The location of an address; null when no entry holds it, or the most specific one has no place. */
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

  /** The rows that a comparison of two snapshots uses. */
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
    const { place, observed_entry } = this.#columns;
    const at = place[entry] as number;
    if (at === noPlace) return null;
    const observation = searchAscending(observed_entry, entry);
    const observed =
      observation < 0 ? null : { ...observedOf(this.#columns, observation), outliers: outliersOf(this.#columns, observation) };
    return { ...placeNames(this.#columns, at), observed };
  }
}

/** The values of an observation that a diff shows. Count and time are left out, as they change all the time. */
function observedValue(observed: Observed | undefined): object {
  if (observed === undefined) return { basis: "geofeed" };
  const { latitude, longitude, radiusKm } = observed;
  return { basis: "observation", latitude, longitude, radius_km: radiusKm };
}

/** The place with this number. */
function placeNames(section: LocationsColumns, at: number): PlaceNames {
  return {
    country: countryText(section.country[at] as number),
    region: stringAt({ start: section.region_start, bytes: section.region_bytes }, at) || null,
    city: stringAt({ start: section.city_start, bytes: section.city_bytes }, at) || null,
  };
}

const noOutliers: Outliers = { observations: 0, places: [] };

function outliersOf(section: LocationsColumns, at: number): Outliers | null {
  const { outlier_entry, outlier_count, outlier_start, outlier_place, outlier_seen, outlier_day, outlier_km } = section;
  if (!hasOutliers(section)) return null;
  const found = searchAscending(outlier_entry, at);
  if (found < 0) return noOutliers;
  const places: OutlierPlace[] = [];
  for (let other = outlier_start[found] as number; other < (outlier_start[found + 1] as number); other++) {
    const distance = outlier_km[other] as number;
    places.push({
      place: placeNames(section, outlier_place[other] as number),
      distanceKm: distance === noDistance ? null : distance,
      observations: outlier_seen[other] as number,
      lastDay: outlier_day[other] as number,
    });
  }
  return { observations: outlier_count[found] as number, places };
}
