/** Builds section `network_types`: what the operator says of prefixes and AS numbers, the last of each. */

import type { Prefix } from "@netfacts/address";
import { type NetworkTypesColumns, networkTypesColumns, type TypeOf } from "@netfacts/snapshot";
import type { NetworkTypeRecord } from "../readers/index.ts";

/** Of two records of one prefix or AS number the later stays. */
export function buildNetworkTypes(records: readonly NetworkTypeRecord[]): NetworkTypesColumns {
  const prefixes: (TypeOf & { readonly prefix: Prefix })[] = [];
  const asns = new Map<number, TypeOf>();
  for (const record of records)
    if ("asn" in record) asns.set(record.asn, record);
    else prefixes.push(record);
  return networkTypesColumns(prefixes, asns);
}
