/** Parts of records that tell what registries and operators say about space: allocation, holder, special purpose, place. */

import Type, { type Static } from "typebox";
import { Asn, CalendarDate, Count, NullableBoolean, NullableText, NullableTimestamp, nullable, oneOf, record, Share } from "../schema.ts";

/** Space as a registry published it: inclusive bounds, and the same as CIDRs. */
export const Block = record({ start: Type.String(), end: Type.String(), cidrs: Type.Array(Type.String()) });
export type Block = Static<typeof Block>;

/** Who holds it, as far as delegated-extended files tell: the records of one opaque id. */
export const Holder = record({ id: Type.String(), asns: Type.Array(Asn), name: NullableText, basis: Type.String() });
export type Holder = Static<typeof Holder>;

export const allocationStatuses = ["allocated", "assigned", "available", "reserved"] as const;
export type AllocationStatus = (typeof allocationStatuses)[number];

const registered = {
  registry: Type.String(),
  status: oneOf(allocationStatuses),
  registration_country: NullableText,
  block: Block,
  allocated_on: nullable(CalendarDate),
};

/** A record of another registry or file that lost against the one shown. */
export const AllocationConflict = record(registered);
export type AllocationConflict = Static<typeof AllocationConflict>;

export const Allocation = record({ ...registered, conflicts: Type.Array(AllocationConflict), holder: nullable(Holder) });
export type Allocation = Static<typeof Allocation>;

/** A flag to show; what a code outside ISO 3166 (`AP`) does not have is null. */
export const CountryFlag = record({ country: Type.String(), name: NullableText, emoji: NullableText, svg_url: NullableText });
export type CountryFlag = Static<typeof CountryFlag>;

/** An entry of the IANA special-purpose address registries. */
export const SpecialPurpose = record({
  name: Type.String(),
  rfc: Type.String(),
  block: Type.String(),
  globally_reachable: NullableBoolean,
});
export type SpecialPurpose = Static<typeof SpecialPurpose>;

/** An entry of the IANA special-purpose AS number registry. */
export const AsnSpecialPurpose = record({ name: Type.String(), rfc: Type.String() });
export type AsnSpecialPurpose = Static<typeof AsnSpecialPurpose>;

export const NetworkType = record({ type: Type.String(), basis: Type.String(), confidence: nullable(Share) });
export type NetworkType = Static<typeof NetworkType>;

const NullableNumber = nullable(Type.Number());

/** Where the operator's own observations place it. */
export const Location = record({
  country: NullableText,
  region: NullableText,
  city: NullableText,
  latitude: NullableNumber,
  longitude: NullableNumber,
  radius_km: NullableNumber,
  basis: Type.String(),
  confidence: nullable(Share),
  observations: Count,
  last_observed_at: NullableTimestamp,
  agrees_with_registration: NullableBoolean,
});
export type Location = Static<typeof Location>;
