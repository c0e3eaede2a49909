/** Sources that say the same twice: a file under two names, and two tables of one collector. Each counts once. */

import type { RibTable } from "../assembly/rib-pass.ts";

/** A table with the name of its source and when it is of, in Unix seconds. */
interface NamedTable {
  readonly name: string;
  readonly table: Pick<RibTable, "collectorId" | "peers" | "ipv4" | "ipv6">;
  readonly asOf: number;
}

/** A source that counts for nothing, and the one that has what it says. */
export interface Duplicate {
  readonly name: string;
  readonly of: string;
  readonly reason: string;
}

/** Told in the report and in `/status`. */
export function sameContentText(other: string): string {
  return `has the same content as source ${other}, and is counted once`;
}

/**
 * Tables of one collector (the BGP identifier of their peer index) that have a peer in common (address and AS) and prefixes of the same family: the newest
 * counts, of equally new ones the first. Two files of one collector, one for each family, are no duplicates.
 */
export function duplicateTables(tables: readonly NamedTable[]): Duplicate[] {
  const kept: NamedTable[] = [];
  const duplicates: Duplicate[] = [];
  for (const one of tables.toSorted((a, b) => b.asOf - a.asOf)) {
    const other = kept.find((before) => isSameCollector(before, one));
    if (other === undefined) {
      kept.push(one);
      continue;
    }
    const reason = `has the collector and peers of source ${other.name}, and is older or as old; only that one is counted`;
    duplicates.push({ name: one.name, of: other.name, reason });
  }
  return duplicates;
}

function isSameCollector({ table: a }: NamedTable, { table: b }: NamedTable): boolean {
  if (a.collectorId === 0 || a.collectorId !== b.collectorId) return false;
  const shares = (["ipv4", "ipv6"] as const).some((family) => a[family].length.length > 0 && b[family].length.length > 0);
  if (!shares) return false;
  const peers = new Set(a.peers.map(peerKey));
  return b.peers.some((peer) => peers.has(peerKey(peer)));
}

function peerKey({ address: { version, w0, w1, w2, w3 }, asn }: RibTable["peers"][number]): string {
  return `${version} ${w0} ${w1} ${w2} ${w3} ${asn}`;
}
