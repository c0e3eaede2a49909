/** The MRT common header (RFC 6396 §2) and the record types it names (§4, and Appendix B for the deprecated ones). */

/** timestamp u32, type u16, subtype u16, length u32 of what follows. */
export const headerBytes = 12;

export const tableDumpV2 = 13;

/** Subtypes of TABLE_DUMP_V2: RFC 6396 §4.3, RFC 6397 §3, RFC 8050 §4. */
export const subtype = {
  peerIndexTable: 1,
  ribIpv4Unicast: 2,
  ribIpv6Unicast: 4,
  ribIpv4UnicastAddPath: 8,
  ribIpv6UnicastAddPath: 10,
} as const;

const subtypeNames: ReadonlyMap<number, string> = new Map([
  [3, "RIB_IPV4_MULTICAST"],
  [5, "RIB_IPV6_MULTICAST"],
  [6, "RIB_GENERIC"],
  [7, "GEO_PEER_TABLE"],
  [9, "RIB_IPV4_MULTICAST_ADDPATH"],
  [11, "RIB_IPV6_MULTICAST_ADDPATH"],
  [12, "RIB_GENERIC_ADDPATH"],
]);

const typeNames: ReadonlyMap<number, string> = new Map([
  [0, "NULL"],
  [1, "START"],
  [2, "DIE"],
  [3, "I_AM_DEAD"],
  [4, "PEER_DOWN"],
  [5, "BGP"],
  [6, "RIP"],
  [7, "IDRP"],
  [8, "RIPNG"],
  [9, "BGP4PLUS"],
  [10, "BGP4PLUS_01"],
  [11, "OSPFv2"],
  [12, "TABLE_DUMP"],
  [13, "TABLE_DUMP_V2"],
  [16, "BGP4MP"],
  [17, "BGP4MP_ET"],
  [32, "ISIS"],
  [33, "ISIS_ET"],
  [48, "OSPFv3"],
  [49, "OSPFv3_ET"],
]);

/** For people: `BGP4MP subtype 4`, `TABLE_DUMP_V2 RIB_GENERIC`, `unknown type 513`. */
export function describeRecord(type: number, subtypeNumber: number): string {
  const name = typeNames.get(type);
  if (name === undefined) return `unknown type ${type}`;
  const subtypeName = type === tableDumpV2 ? subtypeNames.get(subtypeNumber) : undefined;
  return `${name} ${subtypeName ?? `subtype ${subtypeNumber}`}`;
}
