/** Sections from what a test writes down: routes, VRPs, registry records, names. Slow and plain on purpose. */

import { compareAddresses, comparePrefixes, formatPrefix, type Prefix, rangeToPrefixes } from "@netfacts/address";
import { sortPrefixes } from "@netfacts/prefix-trie";
import { type Aspa, encodeAspaColumns, encodeVrpColumns } from "@netfacts/rpki";
import {
  type AllocationStatus,
  type AllocationsColumns,
  type AsNamesColumns,
  type AspasColumns,
  asNamesColumns,
  aspaSectionColumns,
  type LocationsColumns,
  locationsColumns,
  type NetworkTypeStatement,
  type NetworkTypesColumns,
  networkTypesColumns,
  noHolder,
  type Observed,
  type OutlierPlace,
  operatorTypesBasis,
  originKind,
  type Profile,
  type ProfilesColumns,
  packStrings,
  profilesColumns,
  type Registry,
  type RoutesColumns,
  registries,
  statuses,
  type VrpsColumns,
  vrpSectionColumns,
} from "../../src/index.ts";
import { address, prefix } from "./text.ts";

export interface MadeOrigin {
  /** An AS number, the members of an AS_SET, or null for an origin that no path names. */
  readonly origin: number | readonly number[] | null;
  readonly full?: number;
  readonly partial?: number;
  /** Paths to it, and the ASes next to it on them, the most frequent first; told where a `madeRoutes` tells links. */
  readonly paths?: number;
  readonly upstreams?: readonly (readonly [asn: number, paths: number])[];
  /** Unix seconds; told where a `madeRoutes` tells ASes that were seen. */
  readonly seen?: readonly [first: number, last: number];
}

/** Two ASes next to each other on paths: left, right, paths, and bits of `linkSeen`. */
export type MadeLink = readonly [left: number, right: number, paths: number, seen: number];

export interface MadeRoute {
  readonly prefix: Prefix;
  readonly origins: readonly MadeOrigin[];
  /** Of the prefix as a whole; the largest of its origins' when left out. */
  readonly full?: number;
  readonly partial?: number;
}

const never = [0, 0] as const;

/** A route in one line: `route("192.0.2.0/24", [64500, 3])`; a pair is an origin and its full-feed peers. */
export function route(text: string, ...origins: readonly (readonly [MadeOrigin["origin"], number, number?])[]): MadeRoute {
  return { prefix: prefix(text), origins: origins.map(([origin, full, partial = 0]) => ({ origin, full, partial })) };
}

/**
 * @param links  left out: the section tells nothing of paths.
 * @param seenAs  by AS number; left out: the section tells nothing of when anything was seen.
 */
export function madeRoutes(
  routes: readonly MadeRoute[],
  links?: readonly MadeLink[],
  seenAs?: Readonly<Record<number, readonly [first: number, last: number]>>,
): RoutesColumns {
  const sorted = [...routes].sort((a, b) => comparePrefixes(a.prefix, b.prefix));
  const prefixes = sortPrefixes(sorted.map((one) => one.prefix)).columns;
  const start = [0];
  const kinds: number[] = [];
  const values: number[] = [];
  const full: number[] = [];
  const partial: number[] = [];
  const entries: number[] = [];
  const sets: (readonly number[])[] = [];
  const paths: number[] = [];
  const upstreams: (readonly (readonly [number, number])[])[] = [];
  const seen: (readonly [first: number, last: number])[] = [];
  sorted.forEach((one, entry) => {
    const origins = [...one.origins].sort((a, b) => (b.full ?? 0) - (a.full ?? 0) || (b.partial ?? 0) - (a.partial ?? 0));
    for (const { origin, full: most = 0, partial: others = 0, paths: count = 0, upstreams: next = [], seen: times = never } of origins) {
      if (seenAs !== undefined) seen.push(times);
      paths.push(count);
      upstreams.push(next);
      kinds.push(origin === null ? originKind.unknown : typeof origin === "number" ? originKind.as : originKind.asSet);
      values.push(origin === null ? 0 : typeof origin === "number" ? origin : sets.push(origin) - 1);
      full.push(most);
      partial.push(others);
      entries.push(entry);
    }
    start.push(kinds.length);
  });
  const indexed = kinds.flatMap((kind, at) => (kind === originKind.as && sorted[entries[at] as number]?.prefix.length !== 0 ? [at] : []));
  const grouped = [...Map.groupBy(indexed, (at) => values[at] as number)].sort(([a], [b]) => a - b);
  const numbers = grouped.map(([asn]) => asn);
  const byNumber = grouped.map(([, group]) => group);
  const most = (list: readonly MadeOrigin[], of: (one: MadeOrigin) => number | undefined) =>
    Math.max(0, ...list.map((one) => of(one) ?? 0));
  return {
    v4_address: prefixes.ipv4.address,
    v4_length: prefixes.ipv4.length,
    v6_words: prefixes.ipv6.words,
    v6_length: prefixes.ipv6.length,
    origin_start: Uint32Array.from(start),
    origin_kind: Uint8Array.from(kinds),
    origin_value: Uint32Array.from(values),
    origin_full: Uint16Array.from(full),
    origin_partial: Uint16Array.from(partial),
    prefix_full: Uint16Array.from(sorted, (one) => one.full ?? most(one.origins, (origin) => origin.full)),
    prefix_partial: Uint16Array.from(sorted, (one) => one.partial ?? most(one.origins, (origin) => origin.partial)),
    set_start: runs(sets),
    set_member: Uint32Array.from(sets.flat()),
    as_number: Uint32Array.from(numbers),
    as_start: runs(byNumber),
    as_origin: Uint32Array.from(byNumber.flat()),
    as_entry: Uint32Array.from(byNumber.flat(), (at) => entries[at] as number),
    origin_paths: Uint16Array.from(links === undefined ? [] : paths),
    upstream_start: links === undefined ? new Uint32Array() : runs(upstreams),
    upstream_as: Uint32Array.from(upstreams.flat(), ([asn]) => asn),
    upstream_paths: Uint16Array.from(upstreams.flat(), ([, count]) => count),
    ...madeLinks(links ?? []),
    ...madeSeen(seen, seenAs),
  };
}

function madeSeen(seen: readonly (readonly [number, number])[], seenAs: Readonly<Record<number, readonly [number, number]>> | undefined) {
  const times = seenAs === undefined ? [] : [...new Set([0, ...seen.map(([, last]) => last)])].sort((a, b) => a - b);
  const ases = Object.entries(seenAs ?? {}).sort(([a], [b]) => Number(a) - Number(b));
  return {
    origin_first_seen: Uint32Array.from(seen, ([first]) => first),
    origin_last_seen: Uint16Array.from(seen, ([, last]) => times.indexOf(last)),
    seen_time: Uint32Array.from(times),
    seen_as: Uint32Array.from(ases, ([asn]) => Number(asn)),
    seen_as_first: Uint32Array.from(ases, ([, [first]]) => first),
    seen_as_last: Uint32Array.from(ases, ([, [, last]]) => last),
  };
}

function madeLinks(links: readonly MadeLink[]) {
  const sorted = links.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  const byRight = [...sorted.keys()].sort((a, b) => (sorted[a]?.[1] ?? 0) - (sorted[b]?.[1] ?? 0) || a - b);
  return {
    link_left: Uint32Array.from(sorted, ([left]) => left),
    link_right: Uint32Array.from(sorted, ([, right]) => right),
    link_paths: Uint32Array.from(sorted, ([, , paths]) => paths),
    link_seen: Uint8Array.from(sorted, ([, , , seen]) => seen),
    link_by_right: Uint32Array.from(byRight),
  };
}

function runs(lists: readonly (readonly unknown[])[]): Uint32Array<ArrayBuffer> {
  const start = new Uint32Array(lists.length + 1);
  lists.forEach((list, index) => {
    start[index + 1] = (start[index] as number) + list.length;
  });
  return start;
}

export interface MadeVrp {
  readonly prefix: string;
  readonly asn: number;
  readonly maxLength?: number;
  readonly ta?: string | null;
  readonly expiresAt?: number | null;
  readonly loose?: boolean;
}

export function madeVrps(vrps: readonly MadeVrp[]): VrpsColumns {
  const { columns, taNames } = encodeVrpColumns(
    vrps.map((vrp) => {
      const covered = prefix(vrp.prefix);
      const { asn, maxLength = covered.length, ta = "ripe", expiresAt = null, loose = false } = vrp;
      return { prefix: covered, asn, maxLength, ta, expiresAt, loose };
    }),
  );
  return vrpSectionColumns(columns, taNames);
}

export function madeAspas(aspas: readonly (Pick<Aspa, "customer" | "providers"> & Partial<Aspa>)[]): AspasColumns {
  const { columns, taNames } = encodeAspaColumns(aspas.map((aspa) => ({ ta: "ripe", expiresAt: null, ...aspa })));
  return aspaSectionColumns(columns, taNames);
}

interface MadeRegistration {
  readonly registry?: Registry;
  readonly status?: AllocationStatus;
  readonly country?: string | null;
  /** year × 10,000 + month × 100 + day; 0 = none. */
  readonly date?: number;
  readonly holder?: string | null;
}

/** Inclusive bounds of addresses. The order of the list is the order of precedence. */
export interface MadeBlock extends MadeRegistration {
  readonly start: string;
  readonly end: string;
}

export interface MadeAsns extends MadeRegistration {
  readonly first: number;
  readonly last?: number;
}

export function madeAllocations(blocks: readonly MadeBlock[], asns: readonly MadeAsns[] = []): AllocationsColumns {
  const records = blocks
    .map((block, rank) => ({ ...block, rank, from: address(block.start), to: address(block.end) }))
    .sort((a, b) => compareAddresses(a.from, b.from) || compareAddresses(a.to, b.to));
  const cidrs = records.flatMap(({ from, to }, record) => rangeToPrefixes(from, to).map((cidr) => ({ cidr, record })));
  cidrs.sort((a, b) => comparePrefixes(a.cidr, b.cidr) || a.record - b.record);
  const byText = Map.groupBy(cidrs, ({ cidr }) => formatPrefix(cidr));
  const byCidr = [...byText.values()];
  const prefixes = sortPrefixes([...byText.keys()].map(prefix)).columns;
  const numbers = [...asns].sort((a, b) => a.first - b.first);
  const ids = [...new Set([...records, ...numbers].flatMap(({ holder }) => holder ?? []))];
  const packed = packStrings(ids);
  const holderOf = ({ holder }: MadeRegistration) => (holder == null ? noHolder : ids.indexOf(holder));
  const asnsOf = Map.groupBy(numbers, ({ holder }) => holder);
  const held = ids.map((id) => (asnsOf.get(id) ?? []).flatMap(({ first, last = first }) => range(first, last)));
  const recordsOf = Map.groupBy(records.keys(), (record) => records[record]?.holder);
  const blocksOf = ids.map((id) => recordsOf.get(id) ?? []);
  const registry = ({ registry: name = "ripencc" }: MadeRegistration) => registries.indexOf(name);
  const status = ({ status: name = "allocated" }: MadeRegistration) => statuses.indexOf(name);
  const country = ({ country: code = "NL" }: MadeRegistration) => (code === null ? 0 : (code.charCodeAt(0) << 8) | code.charCodeAt(1));
  const date = ({ date: day = 0 }: MadeRegistration) => day;
  return {
    v4_address: prefixes.ipv4.address,
    v4_length: prefixes.ipv4.length,
    v6_words: prefixes.ipv6.words,
    v6_length: prefixes.ipv6.length,
    cidr_start: runs(byCidr),
    cidr_record: Uint32Array.from(byCidr.flat(), ({ record }) => record),
    ipv4_records: Uint32Array.of(records.filter(({ from }) => from.version === 4).length),
    record_start: Uint32Array.from(records.flatMap(({ from: { w0, w1, w2, w3 } }) => [w0, w1, w2, w3])),
    record_end: Uint32Array.from(records.flatMap(({ to: { w0, w1, w2, w3 } }) => [w0, w1, w2, w3])),
    registry: Uint8Array.from(records, registry),
    status: Uint8Array.from(records, status),
    country: Uint16Array.from(records, country),
    date: Uint32Array.from(records, date),
    holder: Uint32Array.from(records, holderOf),
    rank: Uint32Array.from(records, ({ rank }) => rank),
    as_first: Uint32Array.from(numbers, ({ first }) => first),
    as_last: Uint32Array.from(numbers, ({ first, last = first }) => last),
    as_registry: Uint8Array.from(numbers, registry),
    as_status: Uint8Array.from(numbers, status),
    as_country: Uint16Array.from(numbers, country),
    as_date: Uint32Array.from(numbers, date),
    as_holder: Uint32Array.from(numbers, holderOf),
    holder_id_start: packed.start,
    holder_id_bytes: packed.bytes,
    holder_as_start: runs(held),
    holder_as: Uint32Array.from(held.flat()),
    holder_record_start: runs(blocksOf),
    holder_record: Uint32Array.from(blocksOf.flat()),
    holder_file: new Uint32Array(ids.length),
  };
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

export function madeNames(names: Readonly<Record<number, string>>): AsNamesColumns {
  return asNamesColumns(new Map(Object.entries(names).map(([asn, name]) => [Number(asn), name])));
}

export function madeProfiles(profiles: Readonly<Record<number, Partial<Profile>>>): ProfilesColumns {
  const none: Profile = { organisation: null, website: null, networkType: null };
  return profilesColumns(new Map(Object.entries(profiles).map(([asn, profile]) => [Number(asn), { ...none, ...profile }])));
}

/**
 * By prefix or AS number (`AS64500`): types with commas between them, with the confidence behind a blank where it is not 1. Behind ` @`,
 * for what a range list says: its name, provider, region and services with commas between them. ` & ` separates the statements.
 */
export function madeNetworkTypes(types: Readonly<Record<string, string>>): NetworkTypesColumns {
  return networkTypesColumns(
    Object.entries(types).flatMap(([what, texts]) =>
      texts.split(" & ").map((text) => {
        const statement = madeStatement(text);
        return what.startsWith("AS") ? { asn: Number(what.slice(2)), statement } : { prefix: prefix(what), statement };
      }),
    ),
  );
}

function madeStatement(text: string): NetworkTypeStatement {
  const [said = "", list] = text.split(" @");
  const [types = "", confidence = "1"] = said.split(" ");
  const [name, provider = "", region = "", ...services] = list?.split(",") ?? [];
  return {
    types: types.split(","),
    confidence: Number(confidence),
    basis: name === undefined ? operatorTypesBasis : `range-list:${name}`,
    provider: provider || null,
    region: region || null,
    services,
  };
}

/**
 * By prefix: country, region and city with commas between them, an empty one for none; null: no place. Behind ` @`, for what was observed:
 * latitude, longitude, radius, confidence, observations, Unix seconds, with commas between them; without the first three if empty. Behind
 * each further ` @`, another place: country, region, city, kilometres (empty for none), observations, day.
 */
export function madeLocations(places: Readonly<Record<string, string | null>>): LocationsColumns {
  return locationsColumns(
    Object.entries(places).map(([what, text]) => {
      if (text === null) return { prefix: prefix(what), place: null };
      const [names = "", observed, ...others] = text.split(" @");
      const [country, region, city] = names.split(",").map((part) => part || null);
      return {
        prefix: prefix(what),
        place: { country: country ?? null, region: region ?? null, city: city ?? null },
        ...(observed !== undefined && { observed: madeObserved(observed, others.map(madeOutlier)) }),
      };
    }),
  );
}

function madeObserved(text: string, places: readonly OutlierPlace[]): Observed {
  const numbers = text.split(",").map((part) => (part === "" ? null : Number(part)));
  const [latitude = null, longitude = null, radiusKm = null, confidence, observations, lastObservedAt] = numbers;
  return {
    latitude,
    longitude,
    radiusKm,
    confidence: confidence ?? 0,
    observations: observations ?? 0,
    lastObservedAt: lastObservedAt ?? 0,
    outliers: { observations: places.reduce((sum, one) => sum + one.observations, 0), places },
  };
}

function madeOutlier(text: string): OutlierPlace {
  const [country, region, city, distance, observations, day] = text.split(",").map((part) => part || null);
  return {
    place: { country: country ?? null, region: region ?? null, city: city ?? null },
    distanceKm: distance == null ? null : Number(distance),
    observations: Number(observations),
    lastDay: Number(day),
  };
}
