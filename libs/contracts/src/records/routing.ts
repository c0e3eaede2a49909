/** The record of `/routing/{ip}`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { AsSetOrigin, LowVisibilityMatch, Moas, Origin, RelatedPrefix, Visibility } from "../parts/routing.ts";
import { RpkiSummary } from "../parts/rpki.ts";
import { Count, member, NullableBoolean, NullableText, nullable, oneOf, record } from "../schema.ts";

/** `more_specifics` is absent unless asked for. */
export const RoutingRecord = record({
  ip: member(Type.String(), "The address asked, in RFC 5952 form."),
  announced: member(
    NullableBoolean,
    "Whether an announced prefix other than a default route covers the address; null where no routes are imported.",
  ),
  match: member(
    record({
      prefix: member(NullableText, "The prefix that the rest of the record is of; null where there is none."),
      type: member(oneOf(["longest", "none"]), "`longest`: the longest announced prefix that enough peers see."),
    }),
    "The prefix that answers for the address.",
  ),
  visibility: member(nullable(Visibility), "Who sees the prefix, whatever its origin; null where nothing is announced."),
  origins: member(Type.Array(Origin), "Every origin, with its evidence."),
  as_set_origins: member(Type.Array(AsSetOrigin), "Origins that are an AS_SET, kept apart and never unwrapped."),
  low_visibility_matches: member(
    Type.Array(LowVisibilityMatch),
    "Longer prefixes that cover the address and that too few peers see to be the match.",
  ),
  moas: member(Moas, "Whether several ASes originate the prefix."),
  rpki: member(RpkiSummary, "Routing security of the prefix in one word."),
  less_specifics: member(Type.Array(RelatedPrefix), "Announced prefixes that cover the match, default routes left out."),
  more_specifics: Type.Optional(
    member(
      record({
        count: member(Count, "How many there are."),
        items: member(Type.Array(RelatedPrefix), "The first of them, ascending, up to `limit`."),
        truncated: member(Type.Boolean(), "Whether `items` leaves some out."),
      }),
      "Announced prefixes inside the match; only with `include=more_specifics`.",
    ),
  ),
  meta: member(Meta, "Who asked when, which data answered, and what to mind."),
});
export type RoutingRecord = Static<typeof RoutingRecord>;
