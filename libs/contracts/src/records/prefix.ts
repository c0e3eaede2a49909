/** The record of `/prefix/{network}/{length}`. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { prefixes, ratio, vrps } from "../facts/units.ts";
import { Meta } from "../meta.ts";
import { Allocation, allocationFacts, SpecialPurpose, specialPurposeFacts } from "../parts/registration.ts";
import {
  AsSetOrigin,
  asSetOriginFacts,
  fullOriginFacts,
  Moas,
  moasFacts,
  Origin,
  RelatedPrefix,
  relatedPrefixFacts,
  Visibility,
  visibilityFacts,
} from "../parts/routing.ts";
import { RpkiSummary, rpkiSummaryFacts, VrpItem, vrpFacts } from "../parts/rpki.ts";
import { Count, IpVersion, member, NullableBoolean, NullableCount, NullableText, nullable, oneOf, record, Share } from "../schema.ts";

/** VRPs around the requested prefix; null in the record if no VRPs are imported. */
export const PrefixVrps = record({
  covering: member(Type.Array(VrpItem), "VRPs whose prefix equals or covers the requested prefix, up to 1,000."),
  more_specific_count: member(Count, "Number of VRPs for longer prefixes inside the requested prefix."),
  unannounced: member(
    Type.Array(VrpItem),
    "VRPs for this prefix and for prefixes inside it that authorise no announced route: the items of this page, without VRPs for AS 0. Empty if it is unknown what is announced.",
  ),
  next_cursor: member(NullableText, "Cursor of the next page of `unannounced`; null on the last page."),
});
export type PrefixVrps = Static<typeof PrefixVrps>;

/** How the prefix relates to registered space; `relation` is null if no registry file is imported. */
export const PrefixAllocation = record({
  relation: member(
    nullable(oneOf(["equal", "within", "contains", "crosses", "none"])),
    "Position among the registered blocks. `equal`, `within`: one block wins for all of it. `crosses`: a block reaches beyond it. `contains`: several blocks, or a part. `none`: no block. Null if unknown.",
  ),
  total: member(NullableCount, "Number of `blocks` on all pages: 1 for `equal` and `within`; null if `relation` is null."),
  blocks: member(
    Type.Array(Allocation),
    "The items of this page. `equal`, `within`: the block that wins, with the others that contain the prefix as its `conflicts`. Otherwise: all that overlap the prefix, those that contain it last.",
  ),
  next_cursor: member(NullableText, "Cursor of the next page of `blocks`; null on the last page."),
});
export type PrefixAllocation = Static<typeof PrefixAllocation>;

/** `origins`, `visibility` and `rpki` belong to `match.prefix`; `vrps` and `allocation` to the requested prefix. */
export const PrefixRecord = record({
  prefix: member(Type.String(), "The requested prefix in CIDR form."),
  version: member(IpVersion, "IP version."),
  special_purpose: member(
    nullable(SpecialPurpose),
    "Most specific entry of the IANA special-purpose registries that covers the prefix; null if there is none.",
  ),
  announced: member(
    NullableBoolean,
    "Whether exactly this prefix is announced; null if no routes are loaded, or if the sample dataset does not cover its IP version.",
  ),
  match: member(
    record({
      prefix: member(NullableText, "The announced prefix that `visibility`, `origins`, `moas` and `rpki` describe; null if there is none."),
      type: member(
        oneOf(["exact", "covering", "none"]),
        "`exact`: the requested prefix. `covering`: the longest announced prefix that covers it.",
      ),
    }),
    "The announced prefix that matches the requested one.",
  ),
  visibility: member(nullable(Visibility), "Visibility of the matched prefix, over all origins; null if there is no match."),
  origins: member(Type.Array(Origin), "Origins of the matched prefix, with evidence, up to 100."),
  as_set_origins: member(Type.Array(AsSetOrigin), "Origins of the matched prefix that are an AS_SET, listed separately, up to 100."),
  moas: member(Moas, "Whether more than one AS originates the matched prefix."),
  rpki: member(RpkiSummary, "RPKI state of the matched prefix, summarised over its origins."),
  vrps: member(nullable(PrefixVrps), "VRPs that cover the requested prefix or lie inside it; null if no usable VRPs are loaded."),
  less_specifics: member(Type.Array(RelatedPrefix), "Announced prefixes that cover the requested prefix, without default routes."),
  more_specifics: member(
    record({
      count: member(NullableCount, "Total number of items; null if there are none and `announced` is null."),
      items: member(Type.Array(RelatedPrefix), "Items of this page, in ascending order."),
      announced_share: member(
        nullable(Share),
        "Share of the addresses of the prefix that are announced, by itself or by prefixes inside it: 1 only if all are, and 0 only if none is. Overlapping addresses count once. Null if `announced` is null.",
      ),
      next_cursor: member(NullableText, "Cursor of the next page; null on the last page."),
    }),
    "Announced prefixes inside the requested prefix.",
  ),
  allocation: member(PrefixAllocation, "Registered blocks that overlap the requested prefix."),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type PrefixRecord = Static<typeof PrefixRecord>;

const cursor = { from: ["snapshot", "request"], example: "AQBkAAAAHqmDU2RcAWuxn_1nRUPcaA" } as const;

export const prefixFacts: FactsOf<PrefixRecord> = {
  prefix: "request",
  version: "request",
  special_purpose: specialPurposeFacts,
  announced: "routes",
  match: { prefix: "routes", type: "routes" },
  visibility: visibilityFacts,
  origins: fullOriginFacts,
  as_set_origins: asSetOriginFacts,
  moas: moasFacts,
  rpki: rpkiSummaryFacts,
  vrps: { covering: vrpFacts, more_specific_count: { from: "vrps", unit: vrps }, unannounced: vrpFacts, next_cursor: cursor },
  less_specifics: relatedPrefixFacts,
  more_specifics: {
    count: { from: "routes", unit: prefixes },
    items: relatedPrefixFacts,
    announced_share: { from: "routes", unit: ratio },
    next_cursor: cursor,
  },
  allocation: { relation: "allocations", total: { from: "allocations", unit: "blocks" }, blocks: allocationFacts, next_cursor: cursor },
  meta: { page: "meta" },
};
