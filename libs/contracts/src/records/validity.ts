/** The record of `/validity`: RFC 6811 for any pair of origin and prefix. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { OriginValidation } from "../parts/rpki.ts";
import { Asn, record } from "../schema.ts";

export const ValidityRecord = record({ route: record({ asn: Asn, prefix: Type.String() }), rpki: OriginValidation, meta: Meta });
export type ValidityRecord = Static<typeof ValidityRecord>;
