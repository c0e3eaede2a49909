/** Builds section `vrps`: the VRPs of all sources as one set, with a flag for those that authorise more than is announced. */

import type { Prefix } from "@netfacts/address";
import { encodeVrpColumns, type Vrp } from "@netfacts/rpki";
import { type RouteTable, type VrpsColumns, vrpSectionColumns } from "@netfacts/snapshot";

/** A VRP that authorises more prefixes than this is loose without counting: no AS announces that many. */
const authorisedMax = 1 << 20;

/**
 * Merges VRPs: of duplicates (prefix, max length, AS) the latest expiry stays. A VRP is loose if its max length exceeds its length, and its AS does
 * not announce every prefix that it authorises (RFC 9319); without routes, none is.
 */
export function buildVrps(sources: readonly Iterable<Vrp>[], routes: RouteTable | null): VrpsColumns {
  const { columns, taNames } = encodeVrpColumns(joined(sources, routes));
  return vrpSectionColumns(columns, taNames);
}

function* joined(sources: readonly Iterable<Vrp>[], routes: RouteTable | null): Generator<Vrp> {
  for (const source of sources) for (const vrp of source) yield routes !== null && isLoose(routes, vrp) ? { ...vrp, loose: true } : vrp;
}

function isLoose(routes: RouteTable, { asn, prefix, maxLength }: Vrp): boolean {
  if (maxLength <= prefix.length || asn === 0) return false;
  const authorised = 2 ** (maxLength - prefix.length + 1) - 1;
  if (authorised > authorisedMax) return true;
  return countAnnounced(routes, prefix, maxLength, asn, authorised) < authorised;
}

/** Number of prefixes that a VRP authorises and its AS announces. Stops early if there cannot be enough. */
function countAnnounced(routes: RouteTable, prefix: Prefix, maxLength: number, asn: number, needed: number): number {
  const { base } = routes.prefixes;
  const exact = base.exact(prefix);
  if (exact < 0 || !routes.hasOrigin(exact, asn)) return 0;
  const { start, end } = base.moreSpecifics(prefix);
  if (end - start + 1 < needed) return 0;
  let count = 1;
  for (let entry = start; entry < end; entry++) if (base.lengthAt(entry) <= maxLength && routes.hasOrigin(entry, asn)) count++;
  return count;
}
