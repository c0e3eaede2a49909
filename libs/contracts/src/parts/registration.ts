/** Parts of records that tell what registries and operators say about space: allocation, holder, special purpose, place. */

import Type, { type Static } from "typebox";
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

/** Space as a registry published it: inclusive bounds, and the same as CIDRs. */
export const Block = record({
  start: member(Type.String(), "The first address."),
  end: member(Type.String(), "The last address."),
  cidrs: member(Type.Array(Type.String()), "The same range as prefixes, ascending."),
});
export type Block = Static<typeof Block>;

/** Who holds it, as far as delegated-extended files tell: the records of one opaque id. */
export const Holder = record({
  id: member(Type.String(), "The registry's opaque id of the holder: the same for all its records within one file of one date."),
  asns: member(Type.Array(Asn), "AS numbers of the same holder, ascending; the first 100."),
  name: member(NullableText, "Name of the first of these; null where it is not known."),
  basis: member(Type.String(), "What the holder is told from."),
});
export type Holder = Static<typeof Holder>;

export const allocationStatuses = ["allocated", "assigned", "available", "reserved"] as const;
export type AllocationStatus = (typeof allocationStatuses)[number];

const registered = {
  registry: member(
    Type.String(),
    "The regional registry, as in its delegated statistics: `afrinic`, `apnic`, `arin`, `lacnic`, `ripencc`, or `iana`.",
  ),
  status: member(oneOf(allocationStatuses), "The registry's status of the block; `available` and `reserved` are not in anybody's hands."),
  registration_country: member(
    NullableText,
    "Country of the registration, not of use: ISO 3166-1, or the registries' `EU` and `AP`; null where the file tells none.",
  ),
  block: member(Block, "The record as it was published, never merged with neighbours."),
  allocated_on: member(nullable(CalendarDate), "Date of the record; null where the file tells none."),
};

/** A record of another registry or file that lost against the one shown. */
export const AllocationConflict = record(registered);
export type AllocationConflict = Static<typeof AllocationConflict>;

export const Allocation = record({
  ...registered,
  conflicts: member(Type.Array(AllocationConflict), "Overlapping records of other registries or files that lost against this one."),
  holder: member(nullable(Holder), "Who holds it, by the registry's opaque ids; null where the file has none."),
});
export type Allocation = Static<typeof Allocation>;

/** A flag to show; what a code outside ISO 3166 (`AP`) does not have is null. */
export const CountryFlag = record({
  country: member(Type.String(), "The country shown: that of the location where there is one, else of the registration."),
  name: member(NullableText, "English name; null for a code that is no country's or registry region's."),
  emoji: member(NullableText, "The flag as two regional indicator letters; null where the code has none."),
  svg_url: member(NullableText, "Path of the flag's image on this installation; null where the code has none."),
});
export type CountryFlag = Static<typeof CountryFlag>;

/** An entry of the IANA special-purpose address registries. */
export const SpecialPurpose = record({
  name: member(Type.String(), "Name of the entry in IANA's registry."),
  rfc: member(Type.String(), "The document that sets it apart."),
  block: member(Type.String(), "The prefix of the entry."),
  globally_reachable: member(NullableBoolean, "What the registry says of reachability; null where it says not applicable."),
});
export type SpecialPurpose = Static<typeof SpecialPurpose>;

/** An entry of the IANA special-purpose AS number registry. */
export const AsnSpecialPurpose = record({
  name: member(Type.String(), "Name of the entry in IANA's registry."),
  rfc: member(Type.String(), "The document that sets it apart."),
});
export type AsnSpecialPurpose = Static<typeof AsnSpecialPurpose>;

export const NetworkType = record({
  type: member(Type.String(), "Kind of network: `isp`, `hosting`, `non_profit`, … as its source has it."),
  basis: member(Type.String(), "The source and its field that say so."),
  confidence: member(nullable(Share), "How sure the basis makes it, 0 to 1; null where its source does not say."),
});
export type NetworkType = Static<typeof NetworkType>;

const NullableNumber = nullable(Type.Number());

/** Where the operator's own observations place it. */
export const Location = record({
  country: member(NullableText, "Country code (ISO 3166-1); null where not observed."),
  region: member(NullableText, "Subdivision code (ISO 3166-2); null where not observed."),
  city: member(NullableText, "Name of the city; null where not observed."),
  latitude: member(NullableNumber, "Degrees north (WGS 84); null where not observed."),
  longitude: member(NullableNumber, "Degrees east (WGS 84); null where not observed."),
  radius_km: member(NullableNumber, "Kilometres around the coordinates that the observations lie within; null without coordinates."),
  basis: member(Type.String(), "What the place is told from."),
  confidence: member(nullable(Share), "How well the observations agree, 0 to 1; null where that cannot be told."),
  observations: member(Count, "The operator's observations that it rests on."),
  last_observed_at: member(NullableTimestamp, "When the latest of them was made; null where they have no time."),
  agrees_with_registration: member(NullableBoolean, "Whether the country is that of the registration; null where either is not known."),
});
export type Location = Static<typeof Location>;
