/** The MRT common header (RFC 6396 §2) and the record types it names (§4, and Appendix B for the deprecated ones). */

/** timestamp u32, type u16, subtype u16, length u32 of what follows. */
export const headerBytes = 12;

export const bgp = 5;
export const tableDump = 12;
export const tableDumpV2 = 13;
export const bgp4mp = 16;
/** With microseconds (RFC 6396 §3). */
export const bgp4mpEt = 17;

/** Subtypes of TABLE_DUMP_V2: RFC 6396 §4.3, RFC 6397 §3, RFC 8050 §4. */
export const subtype = {
  peerIndexTable: 1,
  ribIpv4Unicast: 2,
  ribIpv6Unicast: 4,
  ribIpv4UnicastAddPath: 8,
  ribIpv6UnicastAddPath: 10,
} as const;

const bgp4mpSubtypes: readonly string[] = [
  "BGP4MP_STATE_CHANGE",
  "BGP4MP_MESSAGE",
  "BGP4MP_ENTRY",
  "BGP4MP_SNAPSHOT",
  "BGP4MP_MESSAGE_AS4",
  "BGP4MP_STATE_CHANGE_AS4",
  "BGP4MP_MESSAGE_LOCAL",
  "BGP4MP_MESSAGE_AS4_LOCAL",
  "BGP4MP_MESSAGE_ADDPATH",
  "BGP4MP_MESSAGE_AS4_ADDPATH",
  "BGP4MP_MESSAGE_LOCAL_ADDPATH",
  "BGP4MP_MESSAGE_AS4_LOCAL_ADDPATH",
];

/** RFC 6396 Appendix B.2, §4.2 (3 and 4 are bgpdump's), §4.3, §4.4, RFC 8050. */
const subtypeNames: ReadonlyMap<number, readonly string[]> = new Map([
  [bgp, ["BGP_NULL", "BGP_UPDATE", "BGP_PREF_UPDATE", "BGP_STATE_CHANGE", "BGP_SYNC", "BGP_OPEN", "BGP_NOTIFY", "BGP_KEEPALIVE"]],
  [tableDump, ["", "AFI_IPv4", "AFI_IPv6", "AFI_IPv4_AS4", "AFI_IPv6_AS4"]],
  [
    tableDumpV2,
    [
      "",
      "PEER_INDEX_TABLE",
      "RIB_IPV4_UNICAST",
      "RIB_IPV4_MULTICAST",
      "RIB_IPV6_UNICAST",
      "RIB_IPV6_MULTICAST",
      "RIB_GENERIC",
      "GEO_PEER_TABLE",
      "RIB_IPV4_UNICAST_ADDPATH",
      "RIB_IPV4_MULTICAST_ADDPATH",
      "RIB_IPV6_UNICAST_ADDPATH",
      "RIB_IPV6_MULTICAST_ADDPATH",
      "RIB_GENERIC_ADDPATH",
    ],
  ],
  [bgp4mp, bgp4mpSubtypes],
  [bgp4mpEt, bgp4mpSubtypes],
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

/** `BGP4MP`; a number for a type without a name. */
export function recordTypeName(type: number): string {
  return typeNames.get(type) ?? String(type);
}

/** `BGP4MP_MESSAGE`; a number for a subtype without a name. */
export function recordSubtypeName(type: number, subtypeNumber: number): string {
  return subtypeNames.get(type)?.[subtypeNumber] || String(subtypeNumber);
}

/** Text for people: `BGP4MP BGP4MP_ENTRY`, `TABLE_DUMP_V2 RIB_GENERIC`, `OSPFv2 subtype 0`, `unknown type 513`. */
export function describeRecord(type: number, subtypeNumber: number): string {
  const name = typeNames.get(type);
  if (name === undefined) return `unknown type ${type}`;
  return `${name} ${subtypeNames.get(type)?.[subtypeNumber] || `subtype ${subtypeNumber}`}`;
}
