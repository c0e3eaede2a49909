/** Parts of records that tell RPKI origin validation (RFC 6811) and its reasons. */

import Type, { type Static } from "typebox";
import { Asn, Count, member, NullableCount, NullableText, NullableTimestamp, nullable, oneOf, record } from "../schema.ts";

/** States as values; the member name of `not-found` is `not_found`. */
export const rpkiStates = ["valid", "invalid", "not-found"] as const;

export type RpkiState = (typeof rpkiStates)[number];

/** A state, or null where no usable VRPs are imported. */
export const NullableRpkiState = nullable(oneOf(rpkiStates));

/** Why a route is invalid: no VRP names its origin (`as`), or those that do allow shorter prefixes only (`length`). */
export const NullableRpkiReason = nullable(oneOf(["as", "length"]));

/** A validated ROA payload; `ta` and `expires_at` are null where its source does not tell them. */
export const VrpItem = record({
  asn: member(Asn, "The AS that may originate; 0: nobody may (RFC 7607)."),
  prefix: member(Type.String(), "The prefix in CIDR form."),
  max_length: member(Type.Integer({ minimum: 0, maximum: 128 }), "The longest prefix length that is authorised."),
  ta: member(NullableText, "Trust anchor, or `slurm` for a local assertion; null where the source does not tell it (RTR)."),
  expires_at: member(NullableTimestamp, "When the payload expires; null where the source does not tell it (RTR)."),
});
export type VrpItem = Static<typeof VrpItem>;

export const rpkiNotes = ["no_vrp_for_origin", "only_as0_covers", "expires_soon", "expired", "as_set", "max_length_loose"] as const;
export type RpkiNote = (typeof rpkiNotes)[number];

/** The verdict on one route with the VRPs that explain it, in the three lists of Routinator. */
export const OriginValidation = record({
  state: member(NullableRpkiState, "The verdict of RFC 6811 against every covering VRP; null where no usable VRPs are imported."),
  reason: member(
    NullableRpkiReason,
    "Why it is invalid: no covering VRP names the AS (`as`), or those that do allow shorter prefixes only (`length`); else null.",
  ),
  description: member(NullableText, "The verdict as a sentence; null without one."),
  vrps: member(
    record({
      matched: member(Type.Array(VrpItem), "Those that make it valid."),
      unmatched_as: member(Type.Array(VrpItem), "Those long enough that name another AS; AS 0 always stands here."),
      unmatched_length: member(Type.Array(VrpItem), "Those whose `max_length` is too short, whatever their AS."),
    }),
    "Every VRP that covers the prefix, in three lists, which are empty exactly where the state is `not-found` or null.",
  ),
  notes: member(
    Type.Array(oneOf(rpkiNotes)),
    "What else to know: `max_length_loose` would let a forged-origin sub-prefix be valid (RFC 9319); `expires_soon` is within 24 h of the data.",
  ),
});
export type OriginValidation = Static<typeof OriginValidation>;

const StateShare = record({
  origins: member(Count, "Origins in this state."),
  peers_seeing: member(Count, "Full-feed peers that see one of them."),
});

/** Routing security of a prefix in one word; states that no origin has are absent from `by_state`. */
export const RpkiSummary = record({
  state: member(
    NullableRpkiState,
    "State of the origin that most full-feed peers see, of equals the worse; null where nothing is announced or no usable VRPs are imported.",
  ),
  reason: member(NullableRpkiReason, "Why that origin is invalid; else null."),
  mixed: member(Type.Boolean(), "Whether some origins are valid and some invalid."),
  by_state: member(
    record({
      valid: Type.Optional(member(StateShare, "Valid origins.")),
      invalid: Type.Optional(member(StateShare, "Invalid origins.")),
      not_found: Type.Optional(member(StateShare, "Origins that no VRP covers.")),
    }),
    "How many origins are in which state, AS_SET origins too; a state without origins is absent.",
  ),
  covering_vrps: member(NullableCount, "VRPs that cover the prefix; null where no usable VRPs are imported."),
});
export type RpkiSummary = Static<typeof RpkiSummary>;
