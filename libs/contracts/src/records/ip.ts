/** The record of `/ip/{ip}`. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { Meta } from "../meta.ts";
import {
  Allocation,
  allocationFacts,
  CountryFlag,
  countryFlagFacts,
  ListedNetworkType,
  Location,
  listedNetworkTypeFacts,
  locationFacts,
  NetworkType,
  networkTypeFacts,
  SpecialPurpose,
  specialPurposeFacts,
} from "../parts/registration.ts";
import {
  AsSetOrigin,
  asSetOriginFacts,
  LowVisibilityMatch,
  lowVisibilityFacts,
  Moas,
  moasFacts,
  OriginSummary,
  originSummaryFacts,
  Visibility,
  visibilityFacts,
} from "../parts/routing.ts";
import { RpkiSummary, rpkiSummaryFacts } from "../parts/rpki.ts";
import { IpVersion, member, NullableBoolean, NullableText, nullable, record } from "../schema.ts";

export const IpRouting = record({
  announced: member(
    NullableBoolean,
    "Whether an announced prefix other than a default route covers the address; null if no routes are loaded, or if the sample dataset does not cover its IP version.",
  ),
  prefix: member(
    NullableText,
    "Longest announced prefix that covers the address and that enough peers see, other than a default route; null if there is none.",
  ),
  moas: member(Moas, "Whether more than one AS originates the prefix."),
  visibility: member(nullable(Visibility), "Visibility of the prefix, over all origins; null if nothing is announced."),
  origins: member(Type.Array(OriginSummary), "Origins of the prefix, with evidence, up to 100."),
  as_set_origins: member(Type.Array(AsSetOrigin), "Origins that are an AS_SET, listed separately, up to 100."),
  low_visibility_matches: member(
    Type.Array(LowVisibilityMatch),
    "Longer prefixes that cover the address but that too few peers see to be the match.",
  ),
});
export type IpRouting = Static<typeof IpRouting>;

/** Paths of related requests. */
export const IpLinks = record({
  routing: member(Type.String(), "The record `/routing` of this address."),
  prefix: member(NullableText, "The matched prefix; null if nothing is announced."),
  asn: member(Type.Array(Type.String()), "The record `/asn` of each origin AS."),
  reverse_dns: member(Type.String(), "The record `/reverse-dns` of this address."),
  embedded_ipv4: Type.Optional(member(Type.String(), "The record `/ip` of the embedded IPv4 address; absent if there is none.")),
});
export type IpLinks = Static<typeof IpLinks>;

/** Only records of mapped, 6to4, Teredo and NAT64 addresses have `embedded_ipv4`. */
export const IpRecord = record({
  ip: member(Type.String(), "The requested address in RFC 5952 form."),
  version: member(IpVersion, "IP version."),
  special_purpose: member(
    nullable(SpecialPurpose),
    "Most specific entry of the IANA special-purpose registries that covers the address; null if there is none.",
  ),
  is_global: member(Type.Boolean(), "Whether the address is globally reachable unicast according to the IANA registries."),
  embedded_ipv4: Type.Optional(member(Type.String(), "Embedded IPv4 address; only for mapped, 6to4, Teredo and NAT64 addresses.")),
  allocation: member(
    nullable(Allocation),
    "Registration of the address, from the delegated statistics of the registries; null if no imported file covers it.",
  ),
  country_flag: member(
    nullable(CountryFlag),
    "Flag of the country of the location if known, otherwise of the country of registration; null if neither is known.",
  ),
  routing: member(IpRouting, "Summary of who announces the address."),
  rpki: member(RpkiSummary, "RPKI state of the matched prefix, summarised over its origins."),
  network_type: member(
    nullable(NetworkType),
    "Type of the network that contains the address; the first of `network_types`; null if unknown.",
  ),
  network_types: member(
    Type.Array(ListedNetworkType),
    "All types that hold for the address, up to 16: those of listed prefixes before those of its origin AS; then what the operator says, the more confident, and the longer prefix first. Empty if unknown.",
  ),
  location: member(
    nullable(Location),
    "Location of the address, by the most specific prefix with observations or in a geofeed that contains it; null if there is none, or if that prefix is listed without a location.",
  ),
  links: member(IpLinks, "Paths of related records."),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type IpRecord = Static<typeof IpRecord>;

export const ipFacts: FactsOf<IpRecord> = {
  ip: "request",
  version: "request",
  special_purpose: specialPurposeFacts,
  is_global: "iana",
  embedded_ipv4: { from: "request", example: "192.0.2.1" },
  allocation: allocationFacts,
  country_flag: { ...countryFlagFacts, country: ["locations", "allocations"] },
  routing: {
    announced: "routes",
    prefix: "routes",
    moas: moasFacts,
    visibility: visibilityFacts,
    origins: originSummaryFacts,
    as_set_origins: asSetOriginFacts,
    low_visibility_matches: lowVisibilityFacts,
  },
  rpki: rpkiSummaryFacts,
  network_type: networkTypeFacts,
  network_types: listedNetworkTypeFacts,
  location: locationFacts,
  links: {
    routing: "request",
    prefix: "routes",
    asn: "routes",
    reverse_dns: "request",
    embedded_ipv4: { from: "request", example: "/api/v1/ip/192.0.2.1" },
  },
  meta: { page: "meta" },
};
