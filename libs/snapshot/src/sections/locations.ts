/** Section `locations`: where networks say that their prefixes are used. */

import type { Prefix } from "@netfacts/address";
import { type PrefixColumns, sortPrefixes } from "@netfacts/prefix-trie";
import { type Columns, checkBelow, checkLengths, checkRuns, type SectionFormat } from "../columns.ts";
import { checkCountries, packCountry } from "../country-code.ts";
import { packStrings } from "../strings.ts";

/** Stands for "has no location, and shows none": its source says so. */
export const noPlace = 0xffff_ffff;

const columns = {
  v4_address: "u32",
  v4_length: "u8",
  v6_words: "u32",
  v6_length: "u8",
  /** Index of the place of each prefix. */
  place: "u32",
  /** Two letters of each place, 0 = not told. */
  country: "u16",
  /** Empty = not told, as for the city. */
  region_start: "u32",
  region_bytes: "u8",
  city_start: "u32",
  city_bytes: "u8",
} as const;

/** Prefixes in preorder (IPv4, then IPv6, each by address and length). */
export const locationsFormat: SectionFormat<typeof columns> = { kind: "locations", version: 1, columns };
export type LocationsColumns = Columns<typeof columns>;

/** A place by name; null: not told. `country`: ISO 3166-1, two capitals. `region`: ISO 3166-2. */
export interface PlaceNames {
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
}

/** The place of a prefix; null: it has none, and does not have that of a less specific prefix. */
export interface LocationRecord {
  readonly prefix: Prefix;
  readonly place: PlaceNames | null;
}

export function locationPrefixes(section: LocationsColumns): PrefixColumns {
  return {
    ipv4: { address: section.v4_address, length: section.v4_length },
    ipv6: { words: section.v6_words, length: section.v6_length },
  };
}

/** Packs locations; of several records of one prefix the last stays. Records that share a place object share its comparison. */
export function locationsColumns(records: readonly LocationRecord[]): LocationsColumns {
  // Of equal prefixes sorting keeps the first.
  const fromLast = records.toReversed();
  const { columns: prefixes, order } = sortPrefixes(prefixesOf(fromLast));
  const places = new PlaceTable();
  const place = Uint32Array.from(order, (at) => places.index((fromLast[at] as LocationRecord).place));
  const region = packStrings(places.all.map((one) => one.region ?? ""));
  const city = packStrings(places.all.map((one) => one.city ?? ""));
  return {
    v4_address: prefixes.ipv4.address,
    v4_length: prefixes.ipv4.length,
    v6_words: prefixes.ipv6.words,
    v6_length: prefixes.ipv6.length,
    place,
    country: Uint16Array.from(places.all, (one) => packCountry(one.country)),
    region_start: region.start,
    region_bytes: region.bytes,
    city_start: city.start,
    city_bytes: city.bytes,
  };
}

function* prefixesOf(records: readonly LocationRecord[]): Generator<Prefix> {
  for (const { prefix } of records) yield prefix;
}

/** Places without repetition, in the order of first use. */
class PlaceTable {
  readonly all: PlaceNames[] = [];
  readonly #byObject = new Map<PlaceNames, number>();
  readonly #byText = new Map<string, number>();

  index(place: PlaceNames | null): number {
    if (place === null) return noPlace;
    const known = this.#byObject.get(place);
    if (known !== undefined) return known;
    const text = JSON.stringify([place.country, place.region, place.city]);
    const index = this.#byText.get(text) ?? this.all.push(place) - 1;
    this.#byText.set(text, index);
    this.#byObject.set(place, index);
    return index;
  }
}

/** Refuses columns whose references would lead outside them. The order of prefixes is the trie's to check. */
export function checkLocations(section: LocationsColumns): void {
  const { kind } = locationsFormat;
  const { place, country } = section;
  checkLengths(kind, section.v4_length.length, { v4_address: section.v4_address });
  checkLengths(kind, section.v6_length.length * 4, { v6_words: section.v6_words });
  checkLengths(kind, section.v4_length.length + section.v6_length.length, { place });
  checkBelow(kind, "place", place, country.length, noPlace);
  checkCountries(kind, "country", country);
  checkRuns(kind, "region_start", section.region_start, country.length, section.region_bytes.length);
  checkRuns(kind, "city_start", section.city_start, country.length, section.city_bytes.length);
}
