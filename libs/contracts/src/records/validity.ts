/** The record of `/validity`: RFC 6811 for any pair of origin and prefix. */

import Type, { type Static } from "typebox";
import { Meta } from "../meta.ts";
import { OriginValidation } from "../parts/rpki.ts";
import { Asn, member, record } from "../schema.ts";

export const ValidityRecord = record({
  route: member(
    record({ asn: member(Asn, "The origin AS asked."), prefix: member(Type.String(), "The prefix asked, in CIDR form.") }),
    "The pair that was validated, announced or not.",
  ),
  rpki: member(OriginValidation, "The verdict with the VRPs that decide."),
  meta: member(Meta, "Who asked when, which data answered, and what to mind."),
});
export type ValidityRecord = Static<typeof ValidityRecord>;
