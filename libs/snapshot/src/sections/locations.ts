/** Section `locations`: where prefixes are used, as networks say and as was observed. */

import type { Prefix } from "@netfacts/address";
import { type PrefixColumns, sortPrefixes } from "@netfacts/prefix-trie";
import { type Columns, checkAscending, checkBelow, checkLengths, checkRuns, type SectionFormat, SectionFormatError } from "../columns.ts";
import { checkCountries, packCountry } from "../country-code.ts";
import { packStrings } from "../strings.ts";

/** The prefix has no location, and answers give none: its source says so. */
export const noPlace = 0xffff_ffff;

const noCoordinate = 0xffff_ffff;
const perDegree = 10_000;
export const noDistance = 0xffff;
/** Half of the equator. No two places are further apart. */
const furthestKm = 20_038;

const columns = {
  v4_address: "u32",
  v4_length: "u8",
  v6_words: "u32",
  v6_length: "u8",
  /** Index of the place of each prefix. */
  place: "u32",
  /** Two letters of each place; 0 = not given. */
  country: "u16",
  /** Empty = not given; so is the city. */
  region_start: "u32",
  region_bytes: "u8",
  city_start: "u32",
  city_bytes: "u8",
  /** Numbers of the observed prefixes, ascending, and the observation of each. */
  observed_entry: "u32",
  /** In ten-thousandths of a degree, from 90 degrees south or 180 degrees west; `noCoordinate` = none. */
  latitude: "u32",
  longitude: "u32",
  /** Kilometres, 0 without coordinates. */
  radius_km: "u16",
  /** In hundredths. */
  confidence: "u8",
  observations: "u32",
  /** Unix seconds. */
  last_observed: "u32",
  /** Numbers of the observations that others contradict, ascending; for each, the number of contradicting observations, and a run of other places. */
  outlier_entry: "u32",
  outlier_count: "u16",
  outlier_start: "u32",
  /** For each other place: its index among the places, observations, day (since 1970), and distance in km; `noDistance` = none. */
  outlier_place: "u32",
  outlier_seen: "u16",
  outlier_day: "u16",
  outlier_km: "u16",
} as const;

const outlierColumns = [
  "outlier_entry",
  "outlier_count",
  "outlier_start",
  "outlier_place",
  "outlier_seen",
  "outlier_day",
  "outlier_km",
] as const;

/**
 * Prefixes in preorder (IPv4, then IPv6, each by address and length). Objects of writers that kept no outliers lack the columns of outliers. Outliers
 * cost nothing if there are none; otherwise 10 bytes each, and 10 for each of up to three places.
 */
export const locationsFormat: SectionFormat<typeof columns> = { kind: "locations", version: 1, columns, optional: outlierColumns };
export type LocationsColumns = Columns<typeof columns>;

/** A place by name; null: not given. `country`: ISO 3166-1, two capitals. `region`: ISO 3166-2. */
export interface PlaceNames {
  readonly country: string | null;
  readonly region: string | null;
  readonly city: string | null;
}

/** Another observed place, and how often it was observed. */
export interface OutlierPlace {
  readonly place: PlaceNames;
  /** Whole kilometres from the coordinates of the location, up to 20,038; null if either has none. */
  readonly distanceKm: number | null;
  readonly observations: number;
  /** Day of the newest observation, since 1970. */
  readonly lastDay: number;
}

/** The observations that contradict the location: at most 65,535, and the places that are shown for them. */
export interface Outliers {
  readonly observations: number;
  readonly places: readonly OutlierPlace[];
}

/** An observation; `confidence` from 0 to 1, kept in hundredths. Coordinates in degrees; null if none were observed, as is the radius. */
export interface Observed {
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly radiusKm: number | null;
  readonly confidence: number;
  readonly observations: number;
  /** Unix seconds. */
  readonly lastObservedAt: number;
  /** Null: the writer of the section kept none. Null is packed as no outliers. */
  readonly outliers: Outliers | null;
}

/** The place of a prefix; null: it has none, not even that of a less specific prefix. Without `observed`, the network itself says so. */
export interface LocationRecord {
  readonly prefix: Prefix;
  readonly place: PlaceNames | null;
  readonly observed?: Observed;
}

export function locationPrefixes(section: LocationsColumns): PrefixColumns {
  return {
    ipv4: { address: section.v4_address, length: section.v4_length },
    ipv6: { words: section.v6_words, length: section.v6_length },
  };
}

/** Packs locations; the last of several records of one prefix wins. Records that share a place object also share its comparison. */
export function locationsColumns(records: readonly LocationRecord[]): LocationsColumns {
  // Sorting keeps the first of equal prefixes, and the last is wanted.
  const fromLast = records.toReversed();
  const { columns: prefixes, order } = sortPrefixes(prefixesOf(fromLast));
  const observedAt = (entry: number) => (fromLast[order[entry] as number] as LocationRecord).observed;
  const places = new PlaceTable();
  const place = Uint32Array.from(order, (at) => places.index((fromLast[at] as LocationRecord).place));
  const entries = Array.from(order.keys()).filter((entry) => observedAt(entry) !== undefined);
  const observed = entries.map((entry) => observedAt(entry) as Observed);
  const outliers = outliersColumns(observed, places);
  // Only now are all places known.
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
    observed_entry: Uint32Array.from(entries),
    latitude: Uint32Array.from(observed, ({ latitude }) => packDegrees(latitude, 90)),
    longitude: Uint32Array.from(observed, ({ longitude }) => packDegrees(longitude, 180)),
    radius_km: Uint16Array.from(observed, ({ radiusKm }) => radiusKm ?? 0),
    confidence: Uint8Array.from(observed, ({ confidence }) => Math.round(confidence * 100)),
    observations: Uint32Array.from(observed, ({ observations }) => observations),
    last_observed: Uint32Array.from(observed, ({ lastObservedAt }) => lastObservedAt),
    ...outliers,
  };
}

function outliersColumns(observed: readonly Observed[], places: PlaceTable): Pick<LocationsColumns, (typeof outlierColumns)[number]> {
  const entries = Array.from(observed.keys()).filter((at) => ((observed[at] as Observed).outliers?.observations ?? 0) > 0);
  const all = entries.map((at) => (observed[at] as Observed).outliers as Outliers);
  const start = new Uint32Array(all.length + 1);
  for (const [at, outliers] of all.entries()) start[at + 1] = (start[at] as number) + outliers.places.length;
  const others = all.flatMap((outliers) => outliers.places);
  return {
    outlier_entry: Uint32Array.from(entries),
    outlier_count: Uint16Array.from(all, ({ observations }) => observations),
    outlier_start: start,
    outlier_place: Uint32Array.from(others, ({ place }) => places.index(place)),
    outlier_seen: Uint16Array.from(others, ({ observations }) => observations),
    outlier_day: Uint16Array.from(others, ({ lastDay }) => lastDay),
    outlier_km: Uint16Array.from(others, ({ distanceKm }) => distanceKm ?? noDistance),
  };
}

function packDegrees(degrees: number | null, offset: number): number {
  return degrees === null ? noCoordinate : Math.round((degrees + offset) * perDegree);
}

/** Reads the observation with this number from the columns, without its outliers. */
export function observedOf(section: LocationsColumns, at: number): Omit<Observed, "outliers"> {
  const [latitude, longitude] = [section.latitude[at] as number, section.longitude[at] as number];
  const isPlaced = latitude !== noCoordinate;
  return {
    latitude: isPlaced ? degreesOf(latitude, 90) : null,
    longitude: isPlaced ? degreesOf(longitude, 180) : null,
    radiusKm: isPlaced ? (section.radius_km[at] as number) : null,
    confidence: (section.confidence[at] as number) / 100,
    observations: section.observations[at] as number,
    lastObservedAt: section.last_observed[at] as number,
  };
}

/** False for an object whose writer kept no outliers. */
export function hasOutliers({ outlier_start }: LocationsColumns): boolean {
  return outlier_start.length > 0;
}

function degreesOf(packed: number, offset: number): number {
  return (packed - offset * perDegree) / perDegree;
}

function* prefixesOf(records: readonly LocationRecord[]): Generator<Prefix> {
  for (const { prefix } of records) yield prefix;
}

/**
 * Places without repetition, in the order of first use. Holds every distinct object and text until the section is packed: callers must limit the
 * records.
 */
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

/** Refuses columns with references that lead out of bounds. The trie checks the order of prefixes. */
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
  const { observed_entry, latitude, longitude, radius_km, confidence, observations, last_observed } = section;
  checkLengths(kind, observed_entry.length, { latitude, longitude, radius_km, confidence, observations, last_observed });
  checkAscending(kind, "observed_entry", observed_entry);
  checkBelow(kind, "observed_entry", observed_entry, place.length);
  checkBelow(kind, "latitude", latitude, 180 * perDegree + 1, noCoordinate);
  checkBelow(kind, "longitude", longitude, 360 * perDegree + 1, noCoordinate);
  checkBelow(kind, "confidence", confidence, 101);
  for (let at = 0; at < latitude.length; at++)
    if ((latitude[at] === noCoordinate) !== (longitude[at] === noCoordinate))
      throw new SectionFormatError(`section ${kind}: observation ${at} has one coordinate`);
  if (hasOutliers(section)) checkOutliers(section);
  else checkLengths(kind, 0, Object.fromEntries(outlierColumns.map((name) => [name, section[name]])));
}

function checkOutliers(section: LocationsColumns): void {
  const { kind } = locationsFormat;
  const { outlier_entry, outlier_count, outlier_start, outlier_place, outlier_seen, outlier_day, outlier_km } = section;
  checkAscending(kind, "outlier_entry", outlier_entry);
  checkBelow(kind, "outlier_entry", outlier_entry, section.observed_entry.length);
  checkLengths(kind, outlier_entry.length, { outlier_count });
  checkLengths(kind, outlier_place.length, { outlier_seen, outlier_day, outlier_km });
  checkRuns(kind, "outlier_start", outlier_start, outlier_entry.length, outlier_place.length);
  checkBelow(kind, "outlier_place", outlier_place, section.country.length);
  checkBelow(kind, "outlier_km", outlier_km, furthestKm + 1, noDistance);
}
