/** The record of `/routing/{ip}`. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { prefixes } from "../facts/units.ts";
import { Meta } from "../meta.ts";
import {
  AsSetOrigin,
  asSetOriginFacts,
  fullOriginFacts,
  LowVisibilityMatch,
  lowVisibilityFacts,
  Moas,
  moasFacts,
  Origin,
  RelatedPrefix,
  relatedPrefixFacts,
  Visibility,
  visibilityFacts,
} from "../parts/routing.ts";
import { RpkiSummary, rpkiSummaryFacts } from "../parts/rpki.ts";
import { member, NullableBoolean, NullableCount, NullableText, nullable, oneOf, record } from "../schema.ts";

/** `more_specifics` is absent unless requested. */
export const RoutingRecord = record({
  ip: member(Type.String(), "The requested address in RFC 5952 form."),
  announced: member(
    NullableBoolean,
    "Whether an announced prefix other than a default route covers the address; null if no routes are loaded, or if the sample dataset does not cover its IP version.",
  ),
  match: member(
    record({
      prefix: member(NullableText, "Prefix that this record describes; null if there is none."),
      type: member(oneOf(["longest", "none"]), "`longest`: the longest announced prefix that enough peers see."),
    }),
    "The announced prefix that matches the address.",
  ),
  visibility: member(nullable(Visibility), "Visibility of the prefix, over all origins; null if nothing is announced."),
  origins: member(Type.Array(Origin), "Origins of the prefix, with evidence, up to 100."),
  as_set_origins: member(Type.Array(AsSetOrigin), "Origins that are an AS_SET, listed separately, up to 100."),
  low_visibility_matches: member(
    Type.Array(LowVisibilityMatch),
    "Longer prefixes that cover the address but that too few peers see to be the match.",
  ),
  moas: member(Moas, "Whether more than one AS originates the prefix."),
  rpki: member(RpkiSummary, "RPKI state of the prefix, summarised over its origins."),
  less_specifics: member(Type.Array(RelatedPrefix), "Announced prefixes that cover the match, without default routes."),
  more_specifics: Type.Optional(
    member(
      record({
        count: member(NullableCount, "Total number of items; null if `announced` is null."),
        items: member(
          Type.Array(RelatedPrefix),
          "Announced prefixes inside the match, in ascending order; at most `limit`. `/prefix` of the match has all of them.",
        ),
        truncated: member(Type.Boolean(), "Whether `items` is incomplete."),
      }),
      "Announced prefixes inside the match; only with `include=more_specifics`.",
    ),
  ),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type RoutingRecord = Static<typeof RoutingRecord>;

export const routingFacts: FactsOf<RoutingRecord> = {
  ip: "request",
  announced: "routes",
  match: { prefix: "routes", type: "routes" },
  visibility: visibilityFacts,
  origins: fullOriginFacts,
  as_set_origins: asSetOriginFacts,
  low_visibility_matches: lowVisibilityFacts,
  moas: moasFacts,
  rpki: rpkiSummaryFacts,
  less_specifics: relatedPrefixFacts,
  more_specifics: { count: { from: "routes", unit: prefixes }, items: relatedPrefixFacts, truncated: ["routes", "request"] },
  meta: { page: "meta" },
};
