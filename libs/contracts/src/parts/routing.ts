/** Parts of records that tell what is announced, by whom, and how many peers see it. */

import Type, { type Static } from "typebox";
import { Asn, Count, NullableBoolean, NullableText, NullableTimestamp, nullable, record, Share } from "../schema.ts";
import { AsnSpecialPurpose } from "./registration.ts";
import { NullableRpkiState, OriginValidation } from "./rpki.ts";

/** Full-feed peers that see it, of all full-feed peers; other peers apart. `ratio` is null without full-feed peers. */
export const Visibility = record({ peers_seeing: Count, peers_total: Count, ratio: nullable(Share), partial_peers_seeing: Count });
export type Visibility = Static<typeof Visibility>;

/** Whether several AS originate the prefix. */
export const Moas = record({ is_moas: NullableBoolean, origin_count: Count });
export type Moas = Static<typeof Moas>;

/** Null where the peer's own AS, which stands for an empty path, is 0. */
export const NullableAsn = nullable(Asn);

/** An AS that was seen next to the origin on paths to this prefix. */
export const Upstream = record({ asn: Asn, name: NullableText, paths: Count, share: nullable(Share) });
export type Upstream = Static<typeof Upstream>;

/** One origin of a prefix with its evidence. `upstreams` is absent unless asked for, null where not known. */
export const Origin = record({
  asn: NullableAsn,
  name: NullableText,
  registration_country: NullableText,
  special_purpose: nullable(AsnSpecialPurpose),
  same_holder_as_allocation: NullableBoolean,
  visibility: Visibility,
  first_seen_at: NullableTimestamp,
  last_seen_at: NullableTimestamp,
  rpki: OriginValidation,
  upstreams: Type.Optional(nullable(Type.Array(Upstream))),
});
export type Origin = Static<typeof Origin>;

/** One origin in short, as `/ip` shows it. */
export const OriginSummary = record({
  asn: NullableAsn,
  name: NullableText,
  special_purpose: nullable(AsnSpecialPurpose),
  same_holder_as_allocation: NullableBoolean,
  visibility: Visibility,
  rpki_state: NullableRpkiState,
});
export type OriginSummary = Static<typeof OriginSummary>;

/** An origin that ends in an AS_SET: members ascending and unique, never unwrapped. */
export const AsSetOrigin = record({ as_set: Type.Array(Asn), visibility: Visibility, rpki: OriginValidation });
export type AsSetOrigin = Static<typeof AsSetOrigin>;

/** A longer prefix that too few peers see to be the match. */
export const LowVisibilityMatch = record({ prefix: Type.String(), origins: Type.Array(NullableAsn), visibility: Visibility });
export type LowVisibilityMatch = Static<typeof LowVisibilityMatch>;

/** A neighbouring prefix in short: less or more specific. */
export const RelatedPrefix = record({
  prefix: Type.String(),
  origins: Type.Array(NullableAsn),
  rpki_state: NullableRpkiState,
  visibility_ratio: nullable(Share),
});
export type RelatedPrefix = Static<typeof RelatedPrefix>;
