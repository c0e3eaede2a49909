/** The record of `/validity`: RFC 6811 for any pair of origin and prefix. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { asNumber } from "../facts/units.ts";
import { Meta } from "../meta.ts";
import { OriginValidation, validationFacts } from "../parts/rpki.ts";
import { Asn, member, record } from "../schema.ts";

export const ValidityRecord = record({
  route: member(
    record({ asn: member(Asn, "The requested origin AS."), prefix: member(Type.String(), "The requested prefix in CIDR form.") }),
    "The validated pair, whether or not it is announced.",
  ),
  rpki: member(OriginValidation, "Origin validation state and the VRPs that determine it."),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type ValidityRecord = Static<typeof ValidityRecord>;

export const validityFacts: FactsOf<ValidityRecord> = {
  route: { asn: { from: "request", unit: asNumber }, prefix: "request" },
  rpki: validationFacts,
  meta: { page: "meta" },
};
