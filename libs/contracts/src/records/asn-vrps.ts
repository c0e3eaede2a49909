/** The record of `/vrps/AS<number>`. */

import Type, { type Static } from "typebox";
import type { FactsOf } from "../facts/fact.ts";
import { asNumber, items, prefixes, vrps } from "../facts/units.ts";
import { Meta } from "../meta.ts";
import { VrpItem, vrpFacts } from "../parts/rpki.ts";
import { Asn, Count, member, NullableBoolean, NullableCount, NullableText, nullable, record } from "../schema.ts";

/** A VRP of the AS, and whether its announcements use it. */
export const AsnVrp = record({
  ...VrpItem.properties,
  announced_prefixes: member(
    NullableCount,
    "Number of prefixes that the AS originates and the VRP authorises; null for AS 0, and if it is unknown what is announced.",
  ),
  max_length_loose: member(
    NullableBoolean,
    "Whether the AS does not announce all prefixes of a VRP with a longer `max_length`, so that a forged origin could pass (RFC 9319); null if `announced_prefixes` is.",
  ),
});
export type AsnVrp = Static<typeof AsnVrp>;

export const AsnVrpsRecord = record({
  asn: member(Asn, "The requested AS number."),
  name: member(NullableText, "Name of the AS; null if unknown."),
  counts: member(
    nullable(
      record({
        vrps: member(Count, "Number of VRPs for this AS."),
        unannounced: member(
          NullableCount,
          "Number of VRPs that authorise no announced prefix, as `announced=false` lists them; null if `announced_prefixes` of a VRP is.",
        ),
        max_length_loose: member(NullableCount, "Number of VRPs that are loose, as `loose=true` lists them; null if `unannounced` is."),
      }),
    ),
    "Counts over both IP versions; null if no usable VRPs are loaded.",
  ),
  vrps: member(
    record({
      items: member(Type.Array(AsnVrp), "Items of this page, in ascending order of prefix and `max_length`."),
      total: member(
        NullableCount,
        "Total number of items that match the filters; null if no usable VRPs are loaded, or if it is unknown whether a VRP matches.",
      ),
      limit: member(Count, "Maximum number of items in a page."),
      next_cursor: member(NullableText, "Cursor of the next page; null on the last page."),
    }),
    "VRPs for this AS.",
  ),
  meta: member(Meta, "Request id, time, versions of the data used, and warnings."),
});
export type AsnVrpsRecord = Static<typeof AsnVrpsRecord>;

export const asnVrpsFacts: FactsOf<AsnVrpsRecord> = {
  asn: { from: "request", unit: asNumber },
  name: "as_names",
  counts: {
    vrps: { from: "vrps", unit: vrps },
    unannounced: { from: ["vrps", "routes"], unit: vrps },
    max_length_loose: { from: ["vrps", "routes"], unit: vrps },
  },
  vrps: {
    items: {
      ...vrpFacts,
      announced_prefixes: { from: ["vrps", "routes"], unit: prefixes },
      max_length_loose: ["vrps", "routes"],
    },
    total: { from: "vrps", unit: vrps },
    limit: { from: "request", unit: items },
    next_cursor: { from: ["snapshot", "request"], example: "AQBkAAAAHqmDU2RcAWuxn_1nRUPcaA" },
  },
  meta: { page: "meta" },
};
