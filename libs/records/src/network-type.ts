/** The kinds of network that an address or an AS belongs to, and their sources. */

import { type Address, formatPrefix } from "@netfacts/address";
import { type ListedNetworkType, listedNetworkTypesMax, type NetworkType } from "@netfacts/contracts";
import { type Generation, type NetworkTypeStatement, operatorTypesBasis } from "@netfacts/snapshot";

/** The types that apply, strongest first, and the first of them. */
export interface NetworkTypes {
  readonly network_type: NetworkType | null;
  readonly network_types: ListedNetworkType[];
}

/** Types of an AS: from lists, otherwise from its profile (docs/design/semantics.md#network-types). */
export function networkTypesOfAs(generation: Generation, asn: number): NetworkTypes {
  return shown(ofAs(generation, asn));
}

/**
 * Types of an address: those listed for the prefixes that contain it, then those of the AS that originates it.
 *
 * @param origins  AS numbers, most seen first; the first one with any known type is used.
 */
export function networkTypesOfAddress(generation: Generation, ip: Address, origins: readonly (number | null)[]): NetworkTypes {
  const said = generation.networkTypes?.ofAddress(ip) ?? [];
  const own = said.toSorted(byStrength).flatMap((statement) => itemsOf(statement, { prefix: formatPrefix(statement.prefix), asn: null }));
  for (const asn of origins) {
    const ofOrigin = asn === null ? [] : ofAs(generation, asn);
    if (ofOrigin.length > 0) return shown([...own, ...ofOrigin]);
  }
  return shown(own);
}

function ofAs({ networkTypes, profiles }: Generation, asn: number): ListedNetworkType[] {
  const of = { prefix: null, asn };
  const listed = (networkTypes?.ofAs(asn) ?? []).toSorted(byStrength).flatMap((statement) => itemsOf(statement, of));
  const profile = profiles?.lookupProfile(asn)?.networkType ?? null;
  if (profile === null) return listed;
  const { type, basis, confidence, also = [] } = profile;
  return [...listed, ...itemsOf({ types: [type, ...also], basis, confidence, provider: null, region: null, services: [] }, of)];
}

/** The operator's statements first, then by confidence; equal ones keep their order, that with the longer prefix first. */
function byStrength(a: NetworkTypeStatement, b: NetworkTypeStatement): number {
  const isOperators = ({ basis }: NetworkTypeStatement) => Number(basis === operatorTypesBasis);
  return isOperators(b) - isOperators(a) || b.confidence - a.confidence;
}

function itemsOf(
  { types, basis, confidence, provider, region, services }: NetworkTypeStatement,
  of: Pick<ListedNetworkType, "prefix" | "asn">,
): ListedNetworkType[] {
  return types.map((type) => ({ type, basis, confidence, ...of, provider, region, services: [...services] }));
}

function shown(items: readonly ListedNetworkType[]): NetworkTypes {
  const [first] = items;
  return {
    network_type: first === undefined ? null : { type: first.type, basis: first.basis, confidence: first.confidence },
    network_types: items.slice(0, listedNetworkTypesMax),
  };
}
