/**
 * Object `paths`: which path each peer has to each prefix. Ingest keeps it beside the snapshot to count neighbours and to
 * apply updates; pods never load it.
 */

import type { Columns, SectionFormat } from "../columns.ts";

const columns = {
  /** Bounds of each distinct path's bytes: AS_PATH segments with 4-byte numbers (RFC 4271 §4.3, RFC 6793). */
  path_start: "u32",
  path_bytes: "u8",
  /** Bounds of each prefix's run of routes; prefixes are the entries of section `routes`. */
  route_start: "u32",
  /** Index in the manifest's list of peers. */
  route_peer: "u16",
  route_path: "u32",
  /** Peers: IPv4 in the first word. */
  peer_version: "u8",
  peer_words: "u32",
  peer_asn: "u32",
  /** 1: a full feed of IPv4; 2: of IPv6; 3: both. */
  peer_full: "u8",
  /** Index in the section's list of collectors. */
  peer_collector: "u16",
} as const;

export const pathsFormat: SectionFormat<typeof columns> = { kind: "paths", version: 1, columns };
export type PathsColumns = Columns<typeof columns>;
