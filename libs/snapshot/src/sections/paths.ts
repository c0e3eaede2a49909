/**
 * Object `paths/<collector>`: the paths of each peer of a collector to each prefix. Ingest keeps it beside the snapshot to apply updates; pods never
 * load it.
 */

import type { Columns, SectionFormat } from "../columns.ts";

const columns = {
  /** Bounds of each distinct path's bytes: AS_PATH segments with 4-byte numbers (RFC 4271 §4.3, RFC 6793). */
  path_start: "u32",
  path_bytes: "u8",
  /** The collector's prefixes, as section `routes` orders them. */
  v4_address: "u32",
  v4_length: "u8",
  v6_words: "u32",
  v6_length: "u8",
  /** Bounds of each prefix's run of routes, IPv4 before IPv6. */
  route_start: "u32",
  /** Ascending by peer, then path, within a run; no pair twice. */
  route_peer: "u16",
  route_path: "u32",
  /** Peers: IPv4 in the first word. */
  peer_version: "u8",
  peer_words: "u32",
  peer_asn: "u32",
  /** 1: a full feed of IPv4; 2: of IPv6; 3: both. */
  peer_full: "u8",
} as const;

export const pathsFormat: SectionFormat<typeof columns> = { kind: "paths", version: 2, columns };
export type PathsColumns = Columns<typeof columns>;
