/** Parts of records that tell RPKI origin validation (RFC 6811) and its reasons. */

import Type, { type Static } from "typebox";
import { Asn, Count, NullableCount, NullableText, NullableTimestamp, nullable, oneOf, record } from "../schema.ts";

/** States as values; the member name of `not-found` is `not_found`. */
export const rpkiStates = ["valid", "invalid", "not-found"] as const;

export type RpkiState = (typeof rpkiStates)[number];

/** A state, or null where no usable VRPs are imported. */
export const NullableRpkiState = nullable(oneOf(rpkiStates));

/** Why a route is invalid: no VRP names its origin (`as`), or those that do allow shorter prefixes only (`length`). */
export const NullableRpkiReason = nullable(oneOf(["as", "length"]));

/** A validated ROA payload; `ta` and `expires_at` are null where its source does not tell them. */
export const VrpItem = record({
  asn: Asn,
  prefix: Type.String(),
  max_length: Type.Integer({ minimum: 0, maximum: 128 }),
  ta: NullableText,
  expires_at: NullableTimestamp,
});
export type VrpItem = Static<typeof VrpItem>;

export const rpkiNotes = ["no_vrp_for_origin", "only_as0_covers", "expires_soon", "expired", "as_set", "max_length_loose"] as const;
export type RpkiNote = (typeof rpkiNotes)[number];

/** The verdict on one route with the VRPs that explain it, in the three lists of Routinator. */
export const OriginValidation = record({
  state: NullableRpkiState,
  reason: NullableRpkiReason,
  description: NullableText,
  vrps: record({ matched: Type.Array(VrpItem), unmatched_as: Type.Array(VrpItem), unmatched_length: Type.Array(VrpItem) }),
  notes: Type.Array(oneOf(rpkiNotes)),
});
export type OriginValidation = Static<typeof OriginValidation>;

const StateShare = record({ origins: Count, peers_seeing: Count });

/** Routing security of a prefix in one word; states that no origin has are absent from `by_state`. */
export const RpkiSummary = record({
  state: NullableRpkiState,
  reason: NullableRpkiReason,
  mixed: Type.Boolean(),
  by_state: record({
    valid: Type.Optional(StateShare),
    invalid: Type.Optional(StateShare),
    not_found: Type.Optional(StateShare),
  }),
  covering_vrps: NullableCount,
});
export type RpkiSummary = Static<typeof RpkiSummary>;
