/** Parts of records from registries and operators: allocation, holder, special purpose, location. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { asNumber, ratio } from "../facts/units.ts";
import {
  Asn,
  CalendarDate,
  Count,
  member,
  NullableBoolean,
  NullableText,
  NullableTimestamp,
  nullable,
  oneOf,
  record,
  Share,
} from "../schema.ts";

/** Space as a registry published it: inclusive bounds, and the same space as CIDRs. */
export const Block = record({
  start: member(Type.String(), "First address of the block."),
  end: member(Type.String(), "Last address of the block."),
  cidrs: member(Type.Array(Type.String()), "The same range as CIDR prefixes, in ascending order."),
});
export type Block = Static<typeof Block>;

/** The holder, as delegated-extended files show it: the records with one opaque id. */
export const Holder = record({
  id: member(Type.String(), "Opaque id of the holder. A registry uses the same id for all records of a holder in the file of one day."),
  asns: member(Type.Array(Asn), "AS numbers of the same holder, in ascending order; at most 100."),
  asn_count: member(Count, "Number of all AS numbers of the same holder."),
  name: member(NullableText, "Name of the first of these AS numbers; null if unknown."),
  basis: member(Type.String(), "Source of this information."),
});
export type Holder = Static<typeof Holder>;

export const allocationStatuses = ["allocated", "assigned", "available", "reserved"] as const;
export type AllocationStatus = (typeof allocationStatuses)[number];

const registered = {
  registry: member(
    Type.String(),
    "Regional registry, as in its delegated statistics: `afrinic`, `apnic`, `arin`, `lacnic`, `ripencc`, or `iana`.",
  ),
  status: member(oneOf(allocationStatuses), "Status of the block at the registry. `available` and `reserved` blocks have no holder."),
  registration_country: member(
    NullableText,
    "Country of registration, not of use: an ISO 3166-1 code, or `EU` or `AP`; null if the file does not contain it.",
  ),
  block: member(Block, "The block as published by the registry, never merged with its neighbours."),
  allocated_on: member(nullable(CalendarDate), "Date of the registration; null if the file does not contain it."),
};

/** A record of another registry or file that differs from the one shown. */
export const AllocationConflict = record(registered);
export type AllocationConflict = Static<typeof AllocationConflict>;

export const Allocation = record({
  ...registered,
  conflicts: member(Type.Array(AllocationConflict), "Overlapping records from other registries or files that were not chosen."),
  holder: member(nullable(Holder), "Holder, identified by the registry's opaque id; null if the file does not contain one."),
});
export type Allocation = Static<typeof Allocation>;

/** A flag to show. Members are null for a code outside ISO 3166 (`AP`). */
export const CountryFlag = record({
  country: member(Type.String(), "Country shown: an ISO 3166-1 code, or `EU` or `AP`."),
  name: member(NullableText, "English name of the country or registry region; null for any other code."),
  emoji: member(NullableText, "Flag emoji; null if the code has none."),
  svg_url: member(NullableText, "Path of the flag image on this server; null if the code has none."),
});
export type CountryFlag = Static<typeof CountryFlag>;

/** An entry of the IANA special-purpose address registries. */
export const SpecialPurpose = record({
  name: member(Type.String(), "Name of the entry in the IANA registry."),
  rfc: member(Type.String(), "Document that reserves it, or several: `RFC8190, RFC919`."),
  block: member(Type.String(), "Prefix of the entry."),
  globally_reachable: member(NullableBoolean, 'Whether IANA lists the block as globally reachable; null if the registry says "N/A".'),
});
export type SpecialPurpose = Static<typeof SpecialPurpose>;

/** An entry of the IANA special-purpose AS number registry. */
export const AsnSpecialPurpose = record({
  name: member(Type.String(), "Name of the entry in the IANA registry."),
  rfc: member(Type.String(), "Document that reserves it, or several: `RFC8190, RFC919`."),
});
export type AsnSpecialPurpose = Static<typeof AsnSpecialPurpose>;

export const NetworkType = record({
  type: member(Type.String(), "Network type as its source names it, such as `isp`, `hosting` or `non_profit`."),
  basis: member(Type.String(), "Source, and its field, that the type comes from."),
  confidence: member(nullable(Share), "Confidence from 0 to 1; null if the source does not give one."),
});
export type NetworkType = Static<typeof NetworkType>;

/** Most items in one answer; the others are left out. */
export const listedNetworkTypesMax = 16;

/** One of the types that apply, with its range or AS. */
export const ListedNetworkType = record({
  type: member(Type.String(), "Network type as its source names it, such as `isp`, `hosting` or `tor_exit`."),
  basis: member(
    Type.String(),
    "Source of the type: `range-list:` and the name of the source, `operator:network-types`, or the field of the AS's profile (`peeringdb:net.info_type`, `operator:overrides`).",
  ),
  confidence: member(nullable(Share), "Confidence from 0 to 1; null if the source does not give one."),
  prefix: member(NullableText, "Listed prefix that contains the address; null if the type is that of an AS."),
  asn: member(nullable(Asn), "AS that the type is that of; null if it is that of a prefix."),
  provider: member(NullableText, "Provider whose list it is; null if none is known."),
  region: member(NullableText, "Provider's region, if the list gives exactly one for the prefix; else null."),
  services: member(
    Type.Array(Type.String()),
    "Provider's services, as its list names them for the prefix, up to 16; empty if it names none.",
  ),
});
export type ListedNetworkType = Static<typeof ListedNetworkType>;

/** Most places shown that contradict a location. */
export const locationOutliersMax = 3;

const NullableNumber = nullable(Type.Number());

/** Another place that some observations name. Its coordinates are not shown, because they could be those of a single observation. */
export const LocationOutlier = record({
  country: member(NullableText, "Country code (ISO 3166-1), or `XK`; null if unknown."),
  region: member(NullableText, "Subdivision code (ISO 3166-2); null if unknown."),
  city: member(NullableText, "City name as the source writes it; null if unknown."),
  distance_km: member(NullableNumber, "Distance in kilometres from the coordinates of the location; null if either has no coordinates."),
  observations: member(Count, "Number of observations of this place."),
  last_observed_on: member(CalendarDate, "Day (UTC) of the latest observation of this place."),
});
export type LocationOutlier = Static<typeof LocationOutlier>;

/** What contradicts a location. */
export const LocationOutliers = record({
  observations: member(Count, "Number of observations of other places, counted as `observations` of the location."),
  items: member(Type.Array(LocationOutlier), `Up to ${locationOutliersMax} other places, those with the most observations first.`),
});
export type LocationOutliers = Static<typeof LocationOutliers>;

/** Where the address is used, according to the network or to the operator's observations. */
export const Location = record({
  country: member(NullableText, "Country code (ISO 3166-1), or `XK`; null if unknown."),
  region: member(NullableText, "Subdivision code (ISO 3166-2); null if unknown."),
  city: member(NullableText, "City name as the source writes it; null if unknown."),
  latitude: member(NullableNumber, "Latitude in degrees north (WGS 84); null if not observed. A geofeed has no coordinates."),
  longitude: member(NullableNumber, "Longitude in degrees east (WGS 84); null if not observed."),
  radius_km: member(
    NullableNumber,
    "Radius in kilometres around the coordinates that contains the observations of this place; null without coordinates.",
  ),
  basis: member(
    Type.String(),
    "Source of the location. `observation`: the operator's own observations. `geofeed`: what the network publishes about its own prefixes (RFC 8805), a claim that nobody has verified.",
  ),
  confidence: member(
    nullable(Share),
    "Probability that the location is right, from the number, age, agreement and accuracy of the observations; null for a geofeed.",
  ),
  observations: member(Count, "Number of observations of this place; one a day counts for each source and method. 0 for a geofeed."),
  last_observed_at: member(NullableTimestamp, "Time of the latest observation of this place; null for a geofeed."),
  outliers: member(
    nullable(LocationOutliers),
    "Observations of the same prefix that name other places; null for a geofeed, and if the section is of a version that did not keep them.",
  ),
  agrees_with_registration: member(
    NullableBoolean,
    "Whether the country is the country of registration; null if either is unknown, or if the registry gives a region (`EU`, `AP`).",
  ),
});
export type Location = Static<typeof Location>;

export const blockFacts: FactsOf<Block> = { start: "allocations", end: "allocations", cidrs: "allocations" };

export const holderFacts: FactsOf<Holder> = {
  id: "allocations",
  asns: { from: "allocations", unit: asNumber },
  asn_count: { from: "allocations", unit: "AS numbers" },
  name: "as_names",
  basis: ["allocations", "as_names"],
};

const registeredFacts: FactsOf<AllocationConflict> = {
  registry: { from: "allocations", example: "ripencc" },
  status: "allocations",
  registration_country: { from: "allocations", example: "NL" },
  block: blockFacts,
  allocated_on: { from: "allocations", example: "1993-09-01" },
};

export const allocationFacts: FactsOf<Allocation> = { ...registeredFacts, conflicts: registeredFacts, holder: holderFacts };

export const countryFlagFacts: FactsOf<CountryFlag> = {
  country: "allocations",
  name: "iso3166",
  emoji: "iso3166",
  svg_url: "iso3166",
};

export const specialPurposeFacts: FactsOf<SpecialPurpose> = {
  name: { from: "iana", example: "Private-Use" },
  rfc: { from: "iana", example: "RFC1918" },
  block: { from: "iana", example: "10.0.0.0/8" },
  globally_reachable: { from: "iana", example: false },
};

export const asnSpecialPurposeFacts: FactsOf<AsnSpecialPurpose> = {
  name: { from: "iana", example: "Reserved for use in documentation and sample code" },
  rfc: { from: "iana", example: "RFC5398" },
};

export const networkTypeFacts: FactsOf<NetworkType> = {
  type: ["network_types", "profiles"],
  basis: ["network_types", "profiles"],
  confidence: { from: ["network_types", "profiles"], unit: ratio },
};

export const listedNetworkTypeFacts: FactsOf<ListedNetworkType> = {
  type: ["network_types", "profiles"],
  basis: ["network_types", "profiles"],
  confidence: { from: ["network_types", "profiles"], unit: ratio },
  prefix: { from: "network_types", example: "192.0.2.0/24" },
  asn: { from: ["network_types", "profiles"], unit: asNumber },
  provider: { from: "network_types", example: "Amazon AWS" },
  region: { from: "network_types", example: "eu-west-1" },
  services: { from: "network_types", example: "EC2" },
};

export const locationFacts: FactsOf<Location> = {
  country: "locations",
  region: "locations",
  city: "locations",
  latitude: { from: "locations", unit: "degrees north" },
  longitude: { from: "locations", unit: "degrees east" },
  radius_km: { from: "locations", unit: "kilometres" },
  basis: "locations",
  confidence: { from: "locations", unit: ratio },
  observations: { from: "locations", unit: "observations" },
  last_observed_at: "locations",
  outliers: {
    observations: { from: "locations", unit: "observations" },
    items: {
      country: "locations",
      region: "locations",
      city: "locations",
      distance_km: { from: "locations", unit: "kilometres" },
      observations: { from: "locations", unit: "observations" },
      last_observed_on: "locations",
    },
  },
  agrees_with_registration: ["locations", "allocations"],
};
