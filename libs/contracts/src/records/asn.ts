/** The record of `/asn/AS<number>`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { AsnSpecialPurpose, allocationStatuses, Block, CountryFlag, Holder, NetworkType } from "../parts/registration.ts";
import { NullableRpkiState } from "../parts/rpki.ts";
import {
  Asn,
  CalendarDate,
  Count,
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

/** Address space that the holder of the AS number holds too; `total` is null where no file tells the holder. */
export const AsnAllocation = record({ registry: Type.String(), block: Block, allocated_on: NullableDate });
export type AsnAllocation = Static<typeof AsnAllocation>;

/** What the AS announces; overlapping space counts once, `largest` is the shortest prefix length. */
export const AsnCounts = record({
  ipv4: record({ prefixes: Count, prefixes_aggregated: Count, addresses: Count, largest: NullableCount }),
  ipv6: record({ prefixes: Count, prefixes_aggregated: Count, slash48s: Count, largest: NullableCount }),
  moas_prefixes: Count,
  low_visibility_prefixes: Count,
});
export type AsnCounts = Static<typeof AsnCounts>;

export const AsnRpki = record({
  valid: NullableCount,
  invalid: NullableCount,
  not_found: NullableCount,
  valid_share: nullable(Share),
  vrps_for_this_as: NullableCount,
});
export type AsnRpki = Static<typeof AsnRpki>;

export const Aspa = record({ present: Type.Boolean(), providers: Type.Array(Asn), expires_at: NullableTimestamp, ta: NullableText });
export type Aspa = Static<typeof Aspa>;

/** A position in observed paths (left = towards the collector), never a business relation. */
export const Neighbour = record({
  asn: Asn,
  name: NullableText,
  position: oneOf(["left", "right", "uncertain"]),
  paths_left: Count,
  paths_right: Count,
  share: nullable(Share),
  ipv4: Type.Boolean(),
  ipv6: Type.Boolean(),
  aspa: NullableText,
});
export type Neighbour = Static<typeof Neighbour>;

export const Neighbours = record({
  method: Type.String(),
  counts: record({ left: Count, right: Count, uncertain: Count }),
  items: Type.Array(Neighbour),
});
export type Neighbours = Static<typeof Neighbours>;

/** One announced prefix; of an aggregate of several, what holds for each alone is null. */
export const AsnPrefix = record({
  prefix: Type.String(),
  visibility_ratio: nullable(Share),
  rpki_state: NullableRpkiState,
  is_moas: NullableBoolean,
});
export type AsnPrefix = Static<typeof AsnPrefix>;

export const AsnRecord = record({
  asn: Asn,
  asdot: Type.String(),
  name: NullableText,
  organisation: NullableText,
  website: NullableText,
  registry: NullableText,
  registration_country: NullableText,
  country_flag: nullable(CountryFlag),
  status: nullable(oneOf(allocationStatuses)),
  allocated_on: NullableDate,
  holder: nullable(Holder),
  special_purpose: nullable(AsnSpecialPurpose),
  allocations: record({ items: Type.Array(AsnAllocation), total: NullableCount, next_cursor: NullableText }),
  network_type: nullable(NetworkType),
  announced: NullableBoolean,
  first_seen_at: NullableTimestamp,
  last_seen_at: NullableTimestamp,
  counts: nullable(AsnCounts),
  rpki: nullable(AsnRpki),
  aspa: nullable(Aspa),
  neighbours: nullable(Neighbours),
  prefixes: record({ items: Type.Array(AsnPrefix), total: Count, limit: Count, next_cursor: NullableText }),
  meta: Meta,
});
export type AsnRecord = Static<typeof AsnRecord>;
