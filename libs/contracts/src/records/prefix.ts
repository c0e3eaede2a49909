/** The record of `/prefix/{network}/{length}`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { Allocation, SpecialPurpose } from "../parts/registration.ts";
import { AsSetOrigin, Moas, Origin, RelatedPrefix, Visibility } from "../parts/routing.ts";
import { RpkiSummary, VrpItem } from "../parts/rpki.ts";
import { Count, IpVersion, NullableBoolean, NullableText, nullable, oneOf, record, Share } from "../schema.ts";

/** VRPs around the prefix asked; null in the record where none are imported. */
export const PrefixVrps = record({ covering: Type.Array(VrpItem), more_specific_count: Count, unannounced: Type.Array(VrpItem) });
export type PrefixVrps = Static<typeof PrefixVrps>;

/** How the prefix lies in registered space; `relation` is null where no registry's file is imported. */
export const PrefixAllocation = record({
  relation: nullable(oneOf(["equal", "within", "contains", "crosses", "none"])),
  total: Count,
  blocks: Type.Array(Allocation),
});
export type PrefixAllocation = Static<typeof PrefixAllocation>;

/** `origins`, `visibility` and `rpki` are of `match.prefix`; `vrps` and `allocation` of the prefix asked. */
export const PrefixRecord = record({
  prefix: Type.String(),
  version: IpVersion,
  special_purpose: nullable(SpecialPurpose),
  announced: NullableBoolean,
  match: record({ prefix: NullableText, type: oneOf(["exact", "covering", "none"]) }),
  visibility: nullable(Visibility),
  origins: Type.Array(Origin),
  as_set_origins: Type.Array(AsSetOrigin),
  moas: Moas,
  rpki: RpkiSummary,
  vrps: nullable(PrefixVrps),
  less_specifics: Type.Array(RelatedPrefix),
  more_specifics: record({
    count: Count,
    items: Type.Array(RelatedPrefix),
    announced_share: nullable(Share),
    next_cursor: NullableText,
  }),
  allocation: PrefixAllocation,
  meta: Meta,
});
export type PrefixRecord = Static<typeof PrefixRecord>;
