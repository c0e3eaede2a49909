/** MP_UNREACH_NLRI (RFC 4760 §4). */

import { type RoutePrefix, readPrefixes } from "../record/prefixes.ts";
import type { Attribute } from "./attribute.ts";
import { refuseSecond, versionOfFamily } from "./family.ts";
import { appended, leaveOut } from "./path-attributes.ts";

export interface MpUnreach {
  readonly afi: number;
  readonly safi: number;
  /** Null for a family that is not read. */
  readonly prefixes: readonly RoutePrefix[] | null;
}

export const mpUnreachNlri: Attribute = {
  type: 15,
  name: "MP_UNREACH_NLRI",
  malformed: "refuse",
  repeats: true,
  read(value, into, { addPath }) {
    const afi = value.u16();
    const safi = value.u8();
    const version = versionOfFamily(afi, safi);
    if (version === null) value.skip(value.left);
    const onCut = (at: number) => leaveOut(into, { type: 15, reason: "overrun", at });
    const unreach: MpUnreach = { afi, safi, prefixes: version === null ? null : readPrefixes(value, version, addPath, onCut) };
    refuseSecond(into.mpUnreach, unreach, "MP_UNREACH_NLRI", value.at);
    into.mpUnreach = appended(into.mpUnreach, unreach);
  },
};
