/** Parts of records that tell what is announced, by whom, and how many peers see it. */

import Type, { type Static } from "typebox";
import { Asn, Count, member, NullableBoolean, NullableText, NullableTimestamp, nullable, record, Share } from "../schema.ts";
import { AsnSpecialPurpose } from "./registration.ts";
import { NullableRpkiState, OriginValidation } from "./rpki.ts";

/** Full-feed peers that see it, of all full-feed peers; other peers apart. `ratio` is null without full-feed peers. */
export const Visibility = record({
  peers_seeing: member(Count, "Full-feed peers that announce it to a collector."),
  peers_total: member(Count, "All full-feed peers of this IP version."),
  ratio: member(nullable(Share), "The first over the second; null where there is no full-feed peer."),
  partial_peers_seeing: member(Count, "Peers without a full table that announce it; they count in nothing else."),
});
export type Visibility = Static<typeof Visibility>;

/** Whether several AS originate the prefix. */
export const Moas = record({
  is_moas: member(NullableBoolean, "Whether more than one AS originates the prefix; null where no routes are imported."),
  origin_count: member(Count, "How many origins it has, without AS_SETs."),
});
export type Moas = Static<typeof Moas>;

/** Null where the peer's own AS, which stands for an empty path, is 0. */
export const NullableAsn = nullable(Asn);

/** An AS that was seen next to the origin on paths to this prefix. */
export const Upstream = record({
  asn: member(Asn, "The AS next to the origin, towards the collector."),
  name: member(NullableText, "Its name; null where not known."),
  paths: member(Count, "Paths to this prefix and origin that it stands on."),
  share: member(nullable(Share), "These over all paths to this prefix and origin; null where there are none."),
});
export type Upstream = Static<typeof Upstream>;

const originMembers = {
  asn: member(NullableAsn, "The last AS of the path; null where the peer's own AS, which stands for an empty path, is 0."),
  name: member(NullableText, "Name of the AS; null where not known."),
};
const sameHolder =
  "Whether the registry's opaque ids name one holder for the AS number and the address space; null where they cannot tell.";

/** One origin of a prefix with its evidence. `upstreams` is absent unless asked for, null where not known. */
export const Origin = record({
  ...originMembers,
  registration_country: member(NullableText, "Country of the AS number's registration; null where not known."),
  special_purpose: member(nullable(AsnSpecialPurpose), "What the AS number is set apart for (IANA); null: nothing."),
  same_holder_as_allocation: member(NullableBoolean, sameHolder),
  visibility: member(Visibility, "Who sees this origin."),
  first_seen_at: member(
    NullableTimestamp,
    "The earliest table of this installation that had this prefix with this origin; null before there is a history.",
  ),
  last_seen_at: member(NullableTimestamp, "The latest such table; null before there is a history."),
  rpki: member(OriginValidation, "Origin validation of this prefix with this origin."),
  upstreams: Type.Optional(
    member(nullable(Type.Array(Upstream)), "ASes seen next to the origin, by paths; only with `include=upstreams`, null where not known."),
  ),
});
export type Origin = Static<typeof Origin>;

/** One origin in short, as `/ip` shows it. */
export const OriginSummary = record({
  ...originMembers,
  special_purpose: member(nullable(AsnSpecialPurpose), "What the AS number is set apart for (IANA); null: nothing."),
  same_holder_as_allocation: member(NullableBoolean, sameHolder),
  visibility: member(Visibility, "Who sees this origin."),
  rpki_state: member(NullableRpkiState, "Verdict of origin validation; null where no usable VRPs are imported."),
});
export type OriginSummary = Static<typeof OriginSummary>;

/** An origin that ends in an AS_SET: members ascending and unique, never unwrapped. */
export const AsSetOrigin = record({
  as_set: member(Type.Array(Asn), "Members of the set, ascending and unique."),
  visibility: member(Visibility, "Who sees this origin."),
  rpki: member(OriginValidation, "Invalid where any VRP covers the prefix, as no VRP can match a set (RFC 9774)."),
});
export type AsSetOrigin = Static<typeof AsSetOrigin>;

/** A longer prefix that too few peers see to be the match. */
export const LowVisibilityMatch = record({
  prefix: member(Type.String(), "The longer prefix in CIDR form."),
  origins: member(Type.Array(NullableAsn), "Its origins; null for a peer's own AS of 0."),
  visibility: member(Visibility, "Who sees the prefix, whatever its origin."),
});
export type LowVisibilityMatch = Static<typeof LowVisibilityMatch>;

/** A neighbouring prefix in short: less or more specific. */
export const RelatedPrefix = record({
  prefix: member(Type.String(), "The prefix in CIDR form."),
  origins: member(Type.Array(NullableAsn), "Its origins; null for a peer's own AS of 0."),
  rpki_state: member(NullableRpkiState, "State of the origin that most full-feed peers see; null where no usable VRPs are imported."),
  visibility_ratio: member(nullable(Share), "Share of full-feed peers that see it; null where there are none."),
});
export type RelatedPrefix = Static<typeof RelatedPrefix>;
