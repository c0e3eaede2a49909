/** Address families with plain prefixes (RFC 4760 §8): IPv4 and IPv6, SAFI unicast, multicast, and both (3, of RFC 2858). */

import { RecordFault } from "../record/record-fault.ts";

export interface Family {
  readonly afi: number;
  readonly safi: number;
}

const safiUnicast = 1;
const safiMax = 3;

/** Null for a family without plain prefixes (labels, VPN, flow specification), or not of IP. */
export function versionOfFamily(afi: number, safi: number): 4 | 6 | null {
  if (safi < safiUnicast || safi > safiMax) return null;
  return afi === 1 ? 4 : afi === 2 ? 6 : null;
}

/** More than any speaker negotiates: a message with more is invalid. */
const familiesMax = 32;

/** One message may have several families, each once. */
export function refuseSecond(known: readonly Family[], family: Family, name: string, at: number): void {
  if (known.length === familiesMax) throw new RecordFault("duplicate-attribute", at, `${name} appears more than ${familiesMax} times`);
  if (!known.some(({ afi, safi }) => afi === family.afi && safi === family.safi)) return;
  throw new RecordFault("duplicate-attribute", at, `${name} appears twice for AFI ${family.afi}, SAFI ${family.safi}`);
}
