/** The record of `/routing/{ip}`. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { AsSetOrigin, LowVisibilityMatch, Moas, Origin, RelatedPrefix, Visibility } from "../parts/routing.ts";
import { RpkiSummary } from "../parts/rpki.ts";
import { Count, NullableBoolean, NullableText, nullable, oneOf, record } from "../schema.ts";

/** `more_specifics` is absent unless asked for. */
export const RoutingRecord = record({
  ip: Type.String(),
  announced: NullableBoolean,
  match: record({ prefix: NullableText, type: oneOf(["longest", "none"]) }),
  visibility: nullable(Visibility),
  origins: Type.Array(Origin),
  as_set_origins: Type.Array(AsSetOrigin),
  low_visibility_matches: Type.Array(LowVisibilityMatch),
  moas: Moas,
  rpki: RpkiSummary,
  less_specifics: Type.Array(RelatedPrefix),
  more_specifics: Type.Optional(record({ count: Count, items: Type.Array(RelatedPrefix), truncated: Type.Boolean() })),
  meta: Meta,
});
export type RoutingRecord = Static<typeof RoutingRecord>;
