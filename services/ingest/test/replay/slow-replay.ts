/** The obvious replayer: one map of texts, every change done to it as it is read by the slow decoder. */

import { slowlyDecoded } from "../../../../libs/mrt/test/support/slow-decoder.ts";

type PrefixJson = string | { prefix: string; path_id: number };
interface Speaker {
  address: string | null;
  asn: number;
}
interface Attributes {
  origin?: string;
  next_hop?: string;
  as_path?: string;
  mp_reach_nlri?: { afi: number; safi: number; prefixes: PrefixJson[] | null }[];
  mp_unreach_nlri?: { afi: number; safi: number; prefixes: PrefixJson[] | null }[];
}

/** Lines `prefix|peer address|peer AS|path identifier|path`, sorted. */
export function slowlyReplayed(rib: Uint8Array, updates: readonly Uint8Array[]): string[] {
  const table = new Map<string, string>();
  const key = (prefix: string, peer: Speaker, pathId: number) => `${prefix}|${peer.address}|${peer.asn}|${pathId}`;
  const put = (listed: PrefixJson, peer: Speaker, path: string | null) => {
    const [prefix, pathId] = typeof listed === "string" ? [listed, 0] : [listed.prefix, listed.path_id];
    if (path === null) table.delete(key(prefix, peer, pathId));
    else table.set(key(prefix, peer, pathId), path);
  };
  let from = Number.POSITIVE_INFINITY;
  for (const reading of slowlyDecoded(rib).readings) {
    if (!("json" in reading)) continue;
    const { kind, timestamp, prefix, routes } = reading.json as {
      kind: string;
      timestamp: number;
      prefix: string;
      routes: { peer: Speaker; path_id?: number; attributes: Attributes }[];
    };
    if (kind === "peer-index" || kind === "rib") from = Math.min(from, timestamp);
    if (kind === "rib")
      for (const { peer, path_id = 0, attributes } of routes) table.set(key(prefix, peer, path_id), attributes.as_path ?? "");
  }
  for (const reading of updates.flatMap((file) => slowlyDecoded(file).readings)) {
    const json = "json" in reading ? reading.json : reading.withdraws;
    if (json === null || (json.timestamp as number) < from) continue;
    const { kind, peer, sent, old_state, new_state, withdrawn, announced, attributes } = json as {
      kind: string;
      peer: Speaker;
      sent: boolean;
      old_state: number;
      new_state: number;
      withdrawn: PrefixJson[];
      announced: PrefixJson[];
      attributes: Attributes;
    };
    if (kind === "state-change" && peer.address !== null && (old_state === 6) !== (new_state === 6)) {
      for (const route of [...table.keys()]) if (route.split("|").slice(1, 3).join() === `${peer.address},${peer.asn}`) table.delete(route);
    }
    if (kind !== "update" || sent || peer.address === null) continue;
    const unicast = (lists: Attributes["mp_reach_nlri"]) =>
      (lists ?? []).flatMap(({ safi, prefixes }) => (safi === 1 ? (prefixes ?? []) : []));
    for (const prefix of [...withdrawn, ...unicast(attributes.mp_unreach_nlri)]) put(prefix, peer, null);
    // RFC 7606 §2 and §3 d, and RFC 7607.
    const { origin, as_path = null, next_hop } = attributes;
    const isWhole =
      "json" in reading && origin !== undefined && (announced.length === 0 || next_hop !== undefined) && !/\b0\b/.test(as_path ?? "");
    for (const prefix of [...announced, ...unicast(attributes.mp_reach_nlri)]) put(prefix, peer, isWhole ? as_path : null);
  }
  return [...table].map(([route, path]) => `${route}|${path}`).sort();
}
