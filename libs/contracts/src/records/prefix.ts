/** The record of `/prefix/{network}/{length}`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { Allocation, SpecialPurpose } from "../parts/registration.ts";
import { AsSetOrigin, Moas, Origin, RelatedPrefix, Visibility } from "../parts/routing.ts";
import { RpkiSummary, VrpItem } from "../parts/rpki.ts";
import { Count, IpVersion, member, NullableBoolean, NullableText, nullable, oneOf, record, Share } from "../schema.ts";

/** VRPs around the prefix asked; null in the record where none are imported. */
export const PrefixVrps = record({
  covering: member(Type.Array(VrpItem), "VRPs whose prefix equals or covers the prefix asked."),
  more_specific_count: member(Count, "VRPs of longer prefixes inside it."),
  unannounced: member(Type.Array(VrpItem), "VRPs of this prefix and inside it that authorise no announced route, up to `limit`."),
});
export type PrefixVrps = Static<typeof PrefixVrps>;

/** How the prefix lies in registered space; `relation` is null where no registry's file is imported. */
export const PrefixAllocation = record({
  relation: member(
    nullable(oneOf(["equal", "within", "contains", "crosses", "none"])),
    "How the prefix lies to the registered blocks; null where no registry's file is imported.",
  ),
  total: member(Count, "How many blocks it touches."),
  blocks: member(Type.Array(Allocation), "These blocks, up to `limit`."),
});
export type PrefixAllocation = Static<typeof PrefixAllocation>;

/** `origins`, `visibility` and `rpki` are of `match.prefix`; `vrps` and `allocation` of the prefix asked. */
export const PrefixRecord = record({
  prefix: member(Type.String(), "The prefix asked, in CIDR form."),
  version: member(IpVersion, "Version of the Internet Protocol."),
  special_purpose: member(
    nullable(SpecialPurpose),
    "The longest entry of IANA's special-purpose registries that covers the prefix; null: none does.",
  ),
  announced: member(NullableBoolean, "Whether exactly this prefix is announced; null where no routes are imported."),
  match: member(
    record({
      prefix: member(
        NullableText,
        "The announced prefix that `visibility`, `origins`, `moas` and `rpki` are of; null where there is none.",
      ),
      type: member(oneOf(["exact", "covering", "none"]), "`exact`: the prefix asked; `covering`: the longest announced one around it."),
    }),
    "The prefix that answers for the one asked.",
  ),
  visibility: member(nullable(Visibility), "Who sees the matched prefix, whatever its origin; null where there is none."),
  origins: member(Type.Array(Origin), "Every origin of the matched prefix, with its evidence."),
  as_set_origins: member(Type.Array(AsSetOrigin), "Its origins that are an AS_SET, kept apart and never unwrapped."),
  moas: member(Moas, "Whether several ASes originate the matched prefix."),
  rpki: member(RpkiSummary, "Routing security of the matched prefix in one word."),
  vrps: member(nullable(PrefixVrps), "VRPs around the prefix asked; null where no usable VRPs are imported."),
  less_specifics: member(Type.Array(RelatedPrefix), "Announced prefixes that cover the prefix asked, default routes left out."),
  more_specifics: member(
    record({
      count: member(Count, "How many there are."),
      items: member(Type.Array(RelatedPrefix), "This page of them, ascending."),
      announced_share: member(
        nullable(Share),
        "Share of the prefix's addresses that is announced, by itself or inside it, overlap counted once; null where no routes are imported.",
      ),
      next_cursor: member(NullableText, "`cursor` of the next page; null on the last."),
    }),
    "Announced prefixes inside the prefix asked.",
  ),
  allocation: member(PrefixAllocation, "How the prefix asked lies in registered space."),
  meta: member(Meta, "Who asked when, which data answered, and what to mind."),
});
export type PrefixRecord = Static<typeof PrefixRecord>;
