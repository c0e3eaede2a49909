/** The record of `/ip/{ip}`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { Allocation, CountryFlag, Location, NetworkType, SpecialPurpose } from "../parts/registration.ts";
import { AsSetOrigin, LowVisibilityMatch, Moas, OriginSummary, Visibility } from "../parts/routing.ts";
import { RpkiSummary } from "../parts/rpki.ts";
import { IpVersion, member, NullableBoolean, NullableText, nullable, record } from "../schema.ts";

export const IpRouting = record({
  announced: member(
    NullableBoolean,
    "Whether an announced prefix other than a default route covers the address; null where no routes are imported.",
  ),
  prefix: member(NullableText, "The longest such prefix that enough peers see; null where there is none."),
  moas: member(Moas, "Whether several ASes originate it."),
  visibility: member(nullable(Visibility), "Who sees the prefix, whatever its origin; null where nothing is announced."),
  origins: member(Type.Array(OriginSummary), "Every origin, with its evidence."),
  as_set_origins: member(Type.Array(AsSetOrigin), "Origins that are an AS_SET, kept apart."),
  low_visibility_matches: member(
    Type.Array(LowVisibilityMatch),
    "Longer prefixes that cover the address and that too few peers see to be the match.",
  ),
});
export type IpRouting = Static<typeof IpRouting>;

/** Paths of the questions that lead on from here. */
export const IpLinks = record({
  routing: member(Type.String(), "The route of this address."),
  prefix: member(NullableText, "The matched prefix; null where nothing is announced."),
  asn: member(Type.Array(Type.String()), "Each origin AS."),
  reverse_dns: member(Type.String(), "The names of this address."),
  embedded_ipv4: Type.Optional(member(Type.String(), "The IPv4 address inside this one; only where there is one.")),
});
export type IpLinks = Static<typeof IpLinks>;

/** `embedded_ipv4` stands only in the records of mapped, 6to4, Teredo and NAT64 addresses. */
export const IpRecord = record({
  ip: member(Type.String(), "The address asked, in RFC 5952 form."),
  version: member(IpVersion, "Version of the Internet Protocol."),
  special_purpose: member(
    nullable(SpecialPurpose),
    "The longest entry of IANA's special-purpose registries that covers the address; null: none does.",
  ),
  is_global: member(Type.Boolean(), "Whether the address is globally reachable unicast by IANA's registries."),
  embedded_ipv4: Type.Optional(member(Type.String(), "The IPv4 address inside; only of mapped, 6to4, Teredo and NAT64 addresses.")),
  allocation: member(
    nullable(Allocation),
    "What the registries' delegated statistics say of the address; null where no imported file covers it.",
  ),
  country_flag: member(nullable(CountryFlag), "A flag to show; null where no country is known."),
  routing: member(IpRouting, "Who announces the address, in short."),
  rpki: member(RpkiSummary, "Routing security of the matched prefix in one word."),
  network_type: member(nullable(NetworkType), "Kind of network that the address is part of; null where not known."),
  location: member(nullable(Location), "Where the operator's own observations place the address; null where there are none."),
  links: member(IpLinks, "Paths of the questions that lead on from here."),
  meta: member(Meta, "Who asked when, which data answered, and what to mind."),
});
export type IpRecord = Static<typeof IpRecord>;
