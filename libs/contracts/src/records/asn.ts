/** The record of `/asn/AS<number>`. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { asNumber, items, paths, prefixes, ratio, vrps } from "../facts/units.ts";
import { Meta } from "../meta.ts";
import {
  AsnSpecialPurpose,
  allocationStatuses,
  asnSpecialPurposeFacts,
  Block,
  blockFacts,
  CountryFlag,
  countryFlagFacts,
  Holder,
  holderFacts,
  ListedNetworkType,
  listedNetworkTypeFacts,
  NetworkType,
  networkTypeFacts,
} from "../parts/registration.ts";
import { NullableRpkiState } from "../parts/rpki.ts";
import {
  Asn,
  CalendarDate,
  Count,
  member,
  NullableBoolean,
  NullableCount,
  NullableText,
  NullableTimestamp,
  nullable,
  oneOf,
  record,
  Share,
} from "../schema.ts";

const NullableDate = nullable(CalendarDate);

/** Address space of the AS number's holder; `total` is null if no file names the holder. */
export const AsnAllocation = record({
  registry: member(Type.String(), "Registry that lists the block."),
  block: member(Block, "The block as published by the registry."),
  allocated_on: member(NullableDate, "Date of the registration; null if the file does not contain it."),
});
export type AsnAllocation = Static<typeof AsnAllocation>;

const unknownFamily = "null if the IP version has no full-feed peer";
const familyCounts = {
  prefixes: member(NullableCount, `Number of prefixes that at least one full-feed peer sees; ${unknownFamily}.`),
  prefixes_aggregated: member(NullableCount, `Number of prefixes after aggregation, which never adds unannounced space; ${unknownFamily}.`),
};

/** What the AS announces; overlapping space counts once, `largest` is the shortest prefix length. */
export const AsnCounts = record({
  ipv4: member(
    record({
      ...familyCounts,
      addresses: member(NullableCount, `Number of addresses in these prefixes. Overlapping addresses count once; ${unknownFamily}.`),
      largest: member(NullableCount, "Shortest prefix length; null if there are no prefixes or if their number is unknown."),
    }),
    "IPv4 prefixes.",
  ),
  ipv6: member(
    record({
      ...familyCounts,
      slash48s: member(
        NullableCount,
        `Number of distinct /48s that these prefixes touch. Overlapping space counts once; ${unknownFamily}.`,
      ),
      largest: member(NullableCount, "Shortest prefix length; null if there are no prefixes or if their number is unknown."),
    }),
    "IPv6 prefixes.",
  ),
  moas_prefixes: member(NullableCount, "Number of these prefixes that other ASes also originate; null if there is no full-feed peer."),
  low_visibility_prefixes: member(
    Count,
    "Number of `prefixes` that no full-feed peer sees, including all of an IP version without full-feed peers. They do not count towards the other values here.",
  ),
});
export type AsnCounts = Static<typeof AsnCounts>;

export const AsnRpki = record({
  valid: member(
    NullableCount,
    "Number of `prefixes` that are valid with this origin, as `rpki=valid` lists them; null if `announced` is null.",
  ),
  invalid: member(
    NullableCount,
    "Number of `prefixes` that are invalid with this origin, as `rpki=invalid` lists them; null if `announced` is null.",
  ),
  not_found: member(NullableCount, "Number of `prefixes` that no VRP covers, as `rpki=not-found` lists them; null if `announced` is null."),
  valid_share: member(
    nullable(Share),
    "Share of `prefixes` that are valid: 1 only if all are, and 0 only if none is; null if there are no prefixes.",
  ),
  vrps_for_this_as: member(
    NullableCount,
    "Number of VRPs for this AS, announced or not; never null here, as `rpki` is null if no VRPs are loaded.",
  ),
});
export type AsnRpki = Static<typeof AsnRpki>;

export const Aspa = record({
  present: member(Type.Boolean(), "Whether the AS has a validated ASPA."),
  providers: member(Type.Array(Asn), "Providers that the ASPA authorises, in ascending order."),
  expires_at: member(NullableTimestamp, "Time at which the ASPA expires; null if there is no ASPA or its source does not provide it."),
  ta: member(NullableText, "Trust anchor; null if there is no ASPA or its source does not provide it."),
});
export type Aspa = Static<typeof Aspa>;

/** A position in observed paths (left = towards the collector), never a business relation. */
export const Neighbour = record({
  asn: member(Asn, "AS number of the neighbour."),
  name: member(NullableText, "Name of the AS; null if unknown."),
  position: member(
    oneOf(["left", "right", "uncertain"]),
    "Position in observed paths, not a business relationship. `left`: towards the collector. `right`: away from the collector. `uncertain`: seen only as a collector's own peer.",
  ),
  paths_left: member(Count, "Number of paths on which the neighbour is to the left."),
  paths_right: member(Count, "Number of paths on which the neighbour is to the right."),
  share: member(nullable(Share), "Share of all paths on that side; null if there are none."),
  ipv4: member(Type.Boolean(), "Whether the neighbour was seen on paths to IPv4 prefixes."),
  ipv6: member(Type.Boolean(), "Whether the neighbour was seen on paths to IPv6 prefixes."),
  aspa: member(NullableText, "`provider` if the ASPA of the AS lists the neighbour; otherwise null."),
});
export type Neighbour = Static<typeof Neighbour>;

export const Neighbours = record({
  method: member(
    Type.String(),
    "Method by which neighbours are found: `observed-paths`, with prepends collapsed, and without paths that contain sets or loops.",
  ),
  counts: member(
    record({
      left: member(Count, "Number of ASes towards the collector."),
      right: member(Count, "Number of ASes away from the collector."),
      uncertain: member(Count, "Number of ASes seen only as a collector's own peer."),
    }),
    "Number of neighbours at each position.",
  ),
  items: member(Type.Array(Neighbour), "Items of this page, those on the most paths first."),
  next_cursor: member(NullableText, "Cursor of the next page; null on the last page."),
});
export type Neighbours = Static<typeof Neighbours>;

/** One announced prefix. In an aggregate of several, members that apply to a single prefix are null. */
export const AsnPrefix = record({
  prefix: member(Type.String(), "Prefix in CIDR form."),
  visibility_ratio: member(
    nullable(Share),
    "Share of full-feed peers that see the prefix from this AS; null if there are no full-feed peers, or if the prefix is an aggregate.",
  ),
  rpki_state: member(
    NullableRpkiState,
    "Origin validation state with this origin; null if no usable VRPs are loaded, or if the prefix is an aggregate.",
  ),
  is_moas: member(NullableBoolean, "Whether other ASes also originate the prefix; null if the prefix is an aggregate."),
});
export type AsnPrefix = Static<typeof AsnPrefix>;

export const AsnRecord = record({
  asn: member(Asn, "The requested AS number."),
  asdot: member(Type.String(), "The AS number in asdot notation (RFC 5396): `1.10` for 65546."),
  name: member(NullableText, "Name of the AS; null if unknown."),
  organisation: member(NullableText, "Organisation that runs the AS, from profiles; null if unknown."),
  organisation_country: member(
    NullableText,
    "Country of the organisation, from profiles: an ISO 3166-1 code; null if unknown. It may differ from the country of registration.",
  ),
  website: member(NullableText, "Website of the organisation, from profiles; null if unknown."),
  registry: member(NullableText, "Registry that allocated the AS number; null if no imported file contains it."),
  registration_country: member(NullableText, "Country of registration: an ISO 3166-1 code, or `EU` or `AP`; null if unknown."),
  country_flag: member(
    nullable(CountryFlag),
    "Flag of the country of registration, or of the organisation's country if the registry gives a region (`EU`, `AP`) or nothing; null if unknown.",
  ),
  status: member(nullable(oneOf(allocationStatuses)), "Status of the AS number at the registry; null if no imported file contains it."),
  allocated_on: member(NullableDate, "Date of the registration; null if the file does not contain it."),
  holder: member(nullable(Holder), "Holder, identified by the registry's opaque id; null if the file does not contain one."),
  special_purpose: member(nullable(AsnSpecialPurpose), "IANA special purpose of the AS number; null if it has none."),
  allocations: member(
    record({
      items: member(Type.Array(AsnAllocation), "Items of this page."),
      total: member(NullableCount, "Total number of items; null if the holder is unknown."),
      next_cursor: member(NullableText, "Cursor of the next page; null on the last page."),
    }),
    "Address space of the same holder.",
  ),
  network_type: member(nullable(NetworkType), "Type of the network; the first of `network_types`; null if unknown."),
  network_types: member(
    Type.Array(ListedNetworkType),
    "All types that hold for the AS, up to 16, strongest first: what the operator lists, then its profile. Empty if unknown.",
  ),
  announced: member(
    NullableBoolean,
    "Whether the AS originates any prefix; null if no routes are loaded, or if the sample dataset has none and does not cover both IP versions.",
  ),
  first_seen_at: member(
    NullableTimestamp,
    "Time of the earliest table imported here in which the AS originates a prefix; null if there is no history yet.",
  ),
  last_seen_at: member(NullableTimestamp, "Time of the latest such table; null if there is no history yet."),
  counts: member(nullable(AsnCounts), "Size of the announced space, as full-feed peers see it; null if no routes are loaded."),
  rpki: member(nullable(AsnRpki), "RPKI coverage of the announced prefixes; null if no usable VRPs are loaded."),
  aspa: member(nullable(Aspa), "Providers that the AS authorises; null if no ASPAs are loaded."),
  neighbours: member(nullable(Neighbours), "Neighbours of the AS in observed paths; null if paths are unknown."),
  prefixes: member(
    record({
      items: member(Type.Array(AsnPrefix), "Items of this page, in ascending order."),
      total: member(NullableCount, "Total number of items that match the filters; null if there are none and `announced` is null."),
      limit: member(Count, "Maximum number of items in a page."),
      next_cursor: member(NullableText, "Cursor of the next page; null on the last page."),
    }),
    "Prefixes that the AS originates.",
  ),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type AsnRecord = Static<typeof AsnRecord>;

const familyFacts = {
  prefixes: { from: "routes", unit: prefixes },
  prefixes_aggregated: { from: "routes", unit: prefixes },
  largest: { from: "routes", unit: "bits" },
} as const;

const countsFacts: FactsOf<AsnCounts> = {
  ipv4: { ...familyFacts, addresses: { from: "routes", unit: "addresses" } },
  ipv6: { ...familyFacts, slash48s: { from: "routes", unit: "/48 prefixes" } },
  moas_prefixes: { from: "routes", unit: prefixes },
  low_visibility_prefixes: { from: "routes", unit: prefixes },
};

const asnRpkiFacts: FactsOf<AsnRpki> = {
  valid: { from: ["vrps", "routes"], unit: prefixes },
  invalid: { from: ["vrps", "routes"], unit: prefixes },
  not_found: { from: ["vrps", "routes"], unit: prefixes },
  valid_share: { from: ["vrps", "routes"], unit: ratio },
  vrps_for_this_as: { from: "vrps", unit: vrps },
};

const neighbourFacts: FactsOf<Neighbour> = {
  asn: { from: "routes", unit: asNumber },
  name: "as_names",
  position: "routes",
  paths_left: { from: "routes", unit: paths },
  paths_right: { from: "routes", unit: paths },
  share: { from: "routes", unit: ratio },
  ipv4: "routes",
  ipv6: "routes",
  aspa: "aspas",
};

const neighbours = { from: "routes", unit: "ASes" } as const;
const cursor = { from: ["snapshot", "request"], example: "AQBkAAAAHqmDU2RcAWuxn_1nRUPcaA" } as const;

export const asnFacts: FactsOf<AsnRecord> = {
  asn: { from: "request", unit: asNumber },
  asdot: "request",
  name: "as_names",
  organisation: "profiles",
  organisation_country: "profiles",
  website: { from: "profiles", example: "https://www.ripe.net/" },
  registry: "allocations",
  registration_country: "allocations",
  country_flag: { ...countryFlagFacts, country: ["allocations", "profiles"] },
  status: "allocations",
  allocated_on: "allocations",
  holder: holderFacts,
  special_purpose: asnSpecialPurposeFacts,
  allocations: {
    items: { registry: "allocations", block: blockFacts, allocated_on: "allocations" },
    total: { from: "allocations", unit: "blocks" },
    next_cursor: cursor,
  },
  network_type: networkTypeFacts,
  network_types: listedNetworkTypeFacts,
  announced: "routes",
  first_seen_at: "routes",
  last_seen_at: "routes",
  counts: countsFacts,
  rpki: asnRpkiFacts,
  aspa: { present: "aspas", providers: { from: "aspas", unit: asNumber }, expires_at: "aspas", ta: "aspas" },
  neighbours: {
    method: "service",
    counts: { left: neighbours, right: neighbours, uncertain: neighbours },
    items: neighbourFacts,
    next_cursor: cursor,
  },
  prefixes: {
    items: {
      prefix: "routes",
      visibility_ratio: { from: "routes", unit: ratio },
      rpki_state: ["vrps", "routes"],
      is_moas: "routes",
    },
    total: { from: "routes", unit: prefixes },
    limit: { from: "request", unit: items },
    next_cursor: cursor,
  },
  meta: { page: "meta" },
};
