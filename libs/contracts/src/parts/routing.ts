/** Parts of records about routes: what is announced, by which AS, and how many peers see it. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { asNumber, origins, partialPeers, paths, peers, ratio } from "../facts/units.ts";
import { Asn, Count, member, NullableBoolean, NullableCount, NullableText, NullableTimestamp, nullable, record, Share } from "../schema.ts";
import { AsnSpecialPurpose, asnSpecialPurposeFacts } from "./registration.ts";
import { NullableRpkiState, OriginValidation, validationFacts } from "./rpki.ts";

/** How many of the full-feed peers see it; other peers are counted separately. `ratio` is null if there are no full-feed peers. */
export const Visibility = record({
  peers_seeing: member(Count, "Number of full-feed peers that announce it to a collector."),
  peers_total: member(Count, "Number of full-feed peers for this IP version."),
  ratio: member(nullable(Share), "`peers_seeing` divided by `peers_total`; null if there are no full-feed peers."),
  partial_peers_seeing: member(Count, "Number of peers without a full table that announce it. They do not count towards any other value."),
});
export type Visibility = Static<typeof Visibility>;

/** Whether several ASes originate the prefix. */
export const Moas = record({
  is_moas: member(NullableBoolean, "Whether more than one AS originates the prefix; null if there is no match and `announced` is null."),
  origin_count: member(NullableCount, "Number of origins, not counting AS_SETs; null if there is no match and `announced` is null."),
});
export type Moas = Static<typeof Moas>;

/** Null if the peer's own AS, which replaces an empty path, is 0. */
const NullableAsn = nullable(Asn);

/** An AS that was seen next to the origin on paths to this prefix. */
export const Upstream = record({
  asn: member(Asn, "AS next to the origin, on the collector's side."),
  name: member(NullableText, "Name of the AS; null if unknown."),
  paths: member(Count, "Number of paths to this prefix and origin that contain the AS."),
  share: member(nullable(Share), "Share of all paths to this prefix and origin; null if there are none."),
});
export type Upstream = Static<typeof Upstream>;

const originMembers = {
  asn: member(NullableAsn, "Last AS of the path, or the peer's own AS if the path is empty; null if that AS is 0."),
  name: member(NullableText, "Name of the AS; null if unknown."),
};
const sameHolder =
  "Whether the AS number and the address space have the same holder according to the registry's opaque ids; null if unknown.";

/** One origin of a prefix with its evidence. `upstreams` is absent unless requested, and null if unknown. */
export const Origin = record({
  ...originMembers,
  registration_country: member(NullableText, "Country of registration of the AS number; null if unknown."),
  special_purpose: member(nullable(AsnSpecialPurpose), "IANA special purpose of the AS number; null if it has none."),
  same_holder_as_allocation: member(NullableBoolean, sameHolder),
  visibility: member(Visibility, "Visibility of this origin."),
  first_seen_at: member(
    NullableTimestamp,
    "Time of the earliest table imported here that contains this prefix with this origin; null if there is no history yet.",
  ),
  last_seen_at: member(NullableTimestamp, "Time of the latest such table; null if there is no history yet."),
  rpki: member(OriginValidation, "Origin validation of this prefix and origin."),
  upstreams: Type.Optional(
    member(
      nullable(Type.Array(Upstream)),
      "ASes seen next to the origin, ordered by number of paths; only with `include=upstreams`; null if unknown.",
    ),
  ),
});
export type Origin = Static<typeof Origin>;

/** One origin in short, as `/ip` shows it. */
export const OriginSummary = record({
  ...originMembers,
  special_purpose: member(nullable(AsnSpecialPurpose), "IANA special purpose of the AS number; null if it has none."),
  same_holder_as_allocation: member(NullableBoolean, sameHolder),
  visibility: member(Visibility, "Visibility of this origin."),
  rpki_state: member(NullableRpkiState, "Origin validation state; null if no usable VRPs are loaded."),
});
export type OriginSummary = Static<typeof OriginSummary>;

/** An origin that ends in an AS_SET: members ascending and unique, never unwrapped. */
export const AsSetOrigin = record({
  as_set: member(Type.Array(Asn), "Members of the set, ascending and unique."),
  visibility: member(Visibility, "Visibility of this origin."),
  rpki: member(
    OriginValidation,
    "Origin validation. The state is invalid if any VRP covers the prefix, because no VRP can match an AS_SET (RFC 9774).",
  ),
});
export type AsSetOrigin = Static<typeof AsSetOrigin>;

const setOrigins = member(
  Type.Array(Type.Array(Asn)),
  "Origins that are an AS_SET, up to 100, which are not in `origins`: the members of each set, ascending and unique.",
);
const plainOrigins = member(
  Type.Array(NullableAsn),
  "Origins of the prefix that are an AS, up to 100; an origin is null if the path is empty and the peer's own AS is 0.",
);

/** A longer prefix that too few peers see to be the match. */
export const LowVisibilityMatch = record({
  prefix: member(Type.String(), "Longer prefix in CIDR form."),
  origins: plainOrigins,
  as_set_origins: setOrigins,
  visibility: member(Visibility, "Visibility of the prefix, over all origins."),
});
export type LowVisibilityMatch = Static<typeof LowVisibilityMatch>;

/** A neighbouring prefix in short: less or more specific. */
export const RelatedPrefix = record({
  prefix: member(Type.String(), "Prefix in CIDR form."),
  origins: plainOrigins,
  as_set_origins: setOrigins,
  rpki_state: member(NullableRpkiState, "State of the origin that most full-feed peers see; null if no usable VRPs are loaded."),
  visibility_ratio: member(nullable(Share), "Share of full-feed peers that see the prefix; null if there are no full-feed peers."),
});
export type RelatedPrefix = Static<typeof RelatedPrefix>;

export const visibilityFacts: FactsOf<Visibility> = {
  peers_seeing: { from: "routes", unit: peers },
  peers_total: { from: "routes", unit: peers },
  ratio: { from: "routes", unit: ratio },
  partial_peers_seeing: { from: "routes", unit: partialPeers },
};

export const moasFacts: FactsOf<Moas> = { is_moas: "routes", origin_count: { from: "routes", unit: origins } };

const upstreamFacts: FactsOf<Upstream> = {
  asn: { from: "routes", unit: asNumber },
  name: "as_names",
  paths: { from: "routes", unit: paths },
  share: { from: "routes", unit: ratio },
};

const originFacts = { asn: { from: "routes", unit: asNumber }, name: "as_names" } as const;

export const fullOriginFacts: FactsOf<Origin> = {
  ...originFacts,
  registration_country: "allocations",
  special_purpose: asnSpecialPurposeFacts,
  same_holder_as_allocation: "allocations",
  visibility: visibilityFacts,
  first_seen_at: "routes",
  last_seen_at: "routes",
  rpki: validationFacts,
  upstreams: upstreamFacts,
};

export const originSummaryFacts: FactsOf<OriginSummary> = {
  ...originFacts,
  special_purpose: asnSpecialPurposeFacts,
  same_holder_as_allocation: "allocations",
  visibility: visibilityFacts,
  rpki_state: ["vrps", "routes"],
};

export const asSetOriginFacts: FactsOf<AsSetOrigin> = {
  as_set: { from: "routes", unit: asNumber, example: 64_500 },
  visibility: visibilityFacts,
  rpki: validationFacts,
};

export const lowVisibilityFacts: FactsOf<LowVisibilityMatch> = {
  prefix: { from: "routes", example: "193.0.6.139/32" },
  origins: { from: "routes", unit: asNumber, example: 64_500 },
  as_set_origins: { from: "routes", unit: asNumber, example: [64_501, 64_502] },
  visibility: visibilityFacts,
};

export const relatedPrefixFacts: FactsOf<RelatedPrefix> = {
  prefix: "routes",
  origins: { from: "routes", unit: asNumber },
  as_set_origins: { from: "routes", unit: asNumber, example: [64_500, 64_501] },
  rpki_state: ["vrps", "routes"],
  visibility_ratio: { from: "routes", unit: ratio },
};
