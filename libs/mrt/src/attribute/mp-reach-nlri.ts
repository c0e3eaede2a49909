/** MP_REACH_NLRI (RFC 4760 §3), and its abbreviated form in RIB entries (RFC 6396 §4.3.4; malformed ones RFC 7606 §7.11). */

import type { Address } from "@netfacts/address";
import { type RoutePrefix, readPrefixes } from "../record/prefixes.ts";
import type { Reader } from "../record/reader.ts";
import { RecordFault } from "../record/record-fault.ts";
import type { Attribute, AttributeContext } from "./attribute.ts";
import { refuseSecond, versionOfFamily } from "./family.ts";
import { appended, leaveOut } from "./path-attributes.ts";

export interface MpReach {
  readonly afi: number;
  readonly safi: number;
  /** Null for a family that is not read. */
  readonly nextHop: Address | null;
  /** The link-local address that may follow a global one (RFC 2545 §3). */
  readonly linkLocal: Address | null;
  /** For a RIB entry, those that its writer has repeated, mostly none; null for a family that is not read. */
  readonly prefixes: readonly RoutePrefix[] | null;
}

export const mpReachNlri: Attribute = {
  type: 14,
  name: "MP_REACH_NLRI",
  malformed: "refuse",
  repeats: true,
  read(value, into, context) {
    const reach =
      context.rib !== null && isAbbreviated(value)
        ? readAbbreviated(value, context.rib)
        : readFull(value, context, (at) => leaveOut(into, { type: 14, reason: "overrun", at }));
    refuseSecond(into.mpReach, reach, "MP_REACH_NLRI", value.at);
    into.mpReach = appended(into.mpReach, reach);
  },
};

/** The length of a next hop is never 0; the first byte of the families in use always is. */
function isAbbreviated(value: Reader): boolean {
  return value.left > 0 && value.bytes[value.at]! !== 0;
}

function readAbbreviated(value: Reader, version: 4 | 6): MpReach {
  return { afi: version === 4 ? 1 : 2, safi: 1, ...readNextHop(value), prefixes: [] };
}

function readFull(value: Reader, { addPath, rib }: AttributeContext, onCut: (at: number) => void): MpReach {
  const afi = value.u16();
  const safi = value.u8();
  const version = versionOfFamily(afi, safi);
  if (version === null) {
    value.skip(value.left);
    return { afi, safi, nextHop: null, linkLocal: null, prefixes: null };
  }
  const hops = readNextHop(value);
  if (rib !== null) return { afi, safi, ...hops, prefixes: readAgain(value, version, addPath, onCut) };
  // Reserved: once a count of SNPAs (RFC 2858), ignored since RFC 4760 §3.
  value.u8();
  return { afi, safi, ...hops, prefixes: readPrefixes(value, version, addPath, onCut) };
}

/** Prefixes that some writers repeat in a RIB entry. The record's own prefix is used, so that faults here do not affect the route. */
function readAgain(value: Reader, version: 4 | 6, addPath: boolean, onCut: (at: number) => void): RoutePrefix[] {
  const at = value.at;
  try {
    if (value.left > 0) value.u8();
    return readPrefixes(value, version, addPath, onCut);
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    onCut(at);
    value.skip(value.left);
    return [];
  }
}

/** One address of either family (RFC 8950 allows IPv6 next hops for IPv4 routes), or an IPv6 address and a link-local one. */
function readNextHop(value: Reader): Pick<MpReach, "nextHop" | "linkLocal"> {
  const at = value.at;
  const length = value.u8();
  if (length === 4) return { nextHop: value.address(4), linkLocal: null };
  if (length === 16) return { nextHop: value.address(6), linkLocal: null };
  if (length === 32) return { nextHop: value.address(6), linkLocal: value.address(6) };
  throw new RecordFault("bad-length", at, `the next hop has ${length} bytes`);
}
