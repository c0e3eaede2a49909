/** Parts of records about RPKI origin validation (RFC 6811) and its reasons. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { asNumber, origins, peers, vrps } from "../facts/units.ts";
import { Asn, Count, member, NullableBoolean, NullableCount, NullableText, NullableTimestamp, nullable, oneOf, record } from "../schema.ts";

/** States as values; the member name of `not-found` is `not_found`. */
export const rpkiStates = ["valid", "invalid", "not-found"] as const;

export type RpkiState = (typeof rpkiStates)[number];

/** A state, or null if no usable VRPs are imported. */
export const NullableRpkiState = nullable(oneOf(rpkiStates));

/** Why a route is invalid: covering VRPs allow its length, but not for its origin (`as`), or none allows its length (`length`). */
const NullableRpkiReason = nullable(oneOf(["as", "length"]));

/** A validated ROA payload; `ta` and `expires_at` are null if its source does not give them. */
export const VrpItem = record({
  asn: member(Asn, "AS that is authorised to originate the prefix. 0 means that no AS is (RFC 7607)."),
  prefix: member(Type.String(), "Prefix in CIDR form."),
  max_length: member(Type.Integer({ minimum: 0, maximum: 128 }), "Longest prefix length that is authorised."),
  ta: member(NullableText, "Trust anchor, or `slurm` for a local assertion; null if the source (RTR) does not provide it."),
  expires_at: member(NullableTimestamp, "Time at which the payload expires; null if the source (RTR) does not provide it."),
});
export type VrpItem = Static<typeof VrpItem>;

const rpkiNotes = ["no_vrp_for_origin", "only_as0_covers", "expires_soon", "expired", "as_set", "max_length_loose"] as const;
export type RpkiNote = (typeof rpkiNotes)[number];

/** The verdict on one route with the VRPs that explain it, in the three lists of Routinator. */
export const OriginValidation = record({
  state: member(
    NullableRpkiState,
    "Result of route origin validation (RFC 6811) against all covering VRPs; null if no usable VRPs are loaded.",
  ),
  reason: member(
    NullableRpkiReason,
    "Why the route is invalid. `as`: covering VRPs allow the length, but not for the origin AS. `length`: no covering VRP allows the length, for any AS. Otherwise null.",
  ),
  description: member(NullableText, "The state in a sentence; null if `state` is null."),
  vrps: member(
    record({
      matched: member(Type.Array(VrpItem), "VRPs that make the route valid."),
      unmatched_as: member(
        Type.Array(VrpItem),
        "VRPs that authorise the prefix length for a different AS. VRPs for AS 0 are always listed here.",
      ),
      unmatched_length: member(Type.Array(VrpItem), "VRPs whose `max_length` is too short, for any AS."),
    }),
    "All VRPs that cover the prefix, up to 1,000 over all origins, in three lists. All three are empty if and only if `state` is `not-found` or null.",
  ),
  notes: member(
    Type.Array(oneOf(rpkiNotes)),
    "Additional findings. `max_length_loose`: a forged-origin sub-prefix would be valid (RFC 9319). `expires_soon`: expires within 2 hours of the time of the data.",
  ),
});
export type OriginValidation = Static<typeof OriginValidation>;

const StateShare = record({
  origins: member(Count, "Number of origins in this state."),
  peers_seeing: member(
    Count,
    "Sum of the full-feed peers that see each of them, at most those that see the prefix. A peer that announces two of these origins (ADD-PATH) counts twice.",
  ),
});

/** Routing security of a prefix in one word. `by_state` has only states that an origin has. */
export const RpkiSummary = record({
  state: member(
    NullableRpkiState,
    "State of the origin that most full-feed peers see, and the worse one on a tie; null if nothing is announced or no usable VRPs are loaded.",
  ),
  reason: member(NullableRpkiReason, "Why that origin is invalid; otherwise null."),
  mixed: member(
    NullableBoolean,
    "Whether some origins are valid and others are invalid; null if it is unknown whether anything is announced, or if no usable VRPs are loaded.",
  ),
  by_state: member(
    record({
      valid: Type.Optional(member(StateShare, "Valid origins.")),
      invalid: Type.Optional(member(StateShare, "Invalid origins.")),
      not_found: Type.Optional(member(StateShare, "Origins that no VRP covers.")),
    }),
    "Number of origins in each state, including AS_SET origins. A state without origins is absent.",
  ),
  covering_vrps: member(
    NullableCount,
    "Number of VRPs that cover the prefix, or what was requested if no prefix matches; null if no usable VRPs are loaded.",
  ),
});
export type RpkiSummary = Static<typeof RpkiSummary>;

export const vrpFacts: FactsOf<VrpItem> = {
  asn: { from: "vrps", unit: asNumber },
  prefix: "vrps",
  max_length: { from: "vrps", unit: "bits" },
  ta: "vrps",
  expires_at: "vrps",
};

export const validationFacts: FactsOf<OriginValidation> = {
  state: ["vrps", "routes"],
  reason: ["vrps", "routes"],
  description: { from: ["vrps", "routes"] },
  vrps: { matched: vrpFacts, unmatched_as: vrpFacts, unmatched_length: vrpFacts },
  notes: ["vrps", "routes"],
};

const stateShareFacts: FactsOf<Static<typeof StateShare>> = {
  origins: { from: ["vrps", "routes"], unit: origins },
  peers_seeing: { from: "routes", unit: peers },
};

export const rpkiSummaryFacts: FactsOf<RpkiSummary> = {
  state: ["vrps", "routes"],
  reason: ["vrps", "routes"],
  mixed: ["vrps", "routes"],
  by_state: { valid: stateShareFacts, invalid: stateShareFacts, not_found: stateShareFacts },
  covering_vrps: { from: "vrps", unit: vrps },
};
