/** The record of `/ip/{ip}`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { Allocation, CountryFlag, Location, NetworkType, SpecialPurpose } from "../parts/registration.ts";
import { AsSetOrigin, LowVisibilityMatch, Moas, OriginSummary, Visibility } from "../parts/routing.ts";
import { RpkiSummary } from "../parts/rpki.ts";
import { IpVersion, NullableBoolean, NullableText, nullable, record } from "../schema.ts";

export const IpRouting = record({
  announced: NullableBoolean,
  prefix: NullableText,
  moas: Moas,
  visibility: nullable(Visibility),
  origins: Type.Array(OriginSummary),
  as_set_origins: Type.Array(AsSetOrigin),
  low_visibility_matches: Type.Array(LowVisibilityMatch),
});
export type IpRouting = Static<typeof IpRouting>;

/** Paths of the questions that lead on from here. */
export const IpLinks = record({
  routing: Type.String(),
  prefix: NullableText,
  asn: Type.Array(Type.String()),
  reverse_dns: Type.String(),
  embedded_ipv4: Type.Optional(Type.String()),
});
export type IpLinks = Static<typeof IpLinks>;

/** `embedded_ipv4` stands only in the records of mapped, 6to4, Teredo and NAT64 addresses. */
export const IpRecord = record({
  ip: Type.String(),
  version: IpVersion,
  special_purpose: nullable(SpecialPurpose),
  is_global: Type.Boolean(),
  embedded_ipv4: Type.Optional(Type.String()),
  allocation: nullable(Allocation),
  country_flag: nullable(CountryFlag),
  routing: IpRouting,
  rpki: RpkiSummary,
  network_type: nullable(NetworkType),
  location: nullable(Location),
  links: IpLinks,
  meta: Meta,
});
export type IpRecord = Static<typeof IpRecord>;
