/** What kind of network an address or an AS belongs to, and who says so. */

import type { Address } from "@netfacts/address";
import type { NetworkType } from "@netfacts/contracts";
import type { Generation, TypeOf } from "@netfacts/snapshot";

/** Of what the operator lists as section `network_types`. */
const operatorBasis = "operator:network-types";

/** Of an AS: what the operator lists, else its profile; null where neither tells. */
export function networkTypeOfAs({ networkTypes, profiles }: Generation, asn: number): NetworkType | null {
  return listed(networkTypes?.ofAs(asn) ?? null) ?? profiles?.lookupProfile(asn)?.networkType ?? null;
}

/**
 * Of an address: what the operator lists for the most specific prefix that holds it, else what is told of the AS that originates it.
 *
 * @param origins  AS numbers, that which most peers see first; the first of which anything is told counts.
 */
export function networkTypeOfAddress(generation: Generation, ip: Address, origins: readonly (number | null)[]): NetworkType | null {
  const own = listed(generation.networkTypes?.ofAddress(ip) ?? null);
  if (own !== null) return own;
  for (const asn of origins) {
    const type = asn === null ? null : networkTypeOfAs(generation, asn);
    if (type !== null) return type;
  }
  return null;
}

function listed(found: TypeOf | null): NetworkType | null {
  return found === null ? null : { type: found.type, basis: operatorBasis, confidence: found.confidence };
}
