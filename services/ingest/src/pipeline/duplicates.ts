/** Sources that say the same twice: a file under two names, and two tables of one collector. Each counts once. */

import { createHash } from "node:crypto";
import { formatPrefix } from "@netfacts/address";
import type { RibTable } from "../assembly/rib-pass.ts";
import { referredVersion } from "../fetch/referred-feeds.ts";
import { boundedContent } from "../readers/bounded-content.ts";
import type { SourceConfig } from "../sources/index.ts";
import type { ListedSource } from "./listed-sources.ts";
import { openSource, type StoredFile } from "./open-source.ts";

/** A table with the name of its source and the time of its data, in Unix seconds. */
interface NamedTable {
  readonly name: string;
  readonly table: Pick<RibTable, "collectorId" | "peers" | "ipv4" | "ipv6">;
  readonly asOf: number;
}

/** A source that does not count, and the source that has the same content. */
export interface Duplicate {
  readonly name: string;
  readonly of: string;
  readonly reason: string;
}

/** Told in the report and in `/status`. */
export function sameContentText(other: string): string {
  return `has the same content as source ${other}, and is counted once`;
}

/** A source that was read. */
interface ReadContent {
  readonly source: ListedSource;
  readonly stored: StoredFile;
  /** Bytes of its decompressed content. */
  readonly unpacked: number;
}

/** The contents of a run's sources, however they are compressed. */
export class ReadContents {
  readonly #read = new Map<string, ReadContent[]>();

  /**
   * Name of a source that was noted before, has the same content and says the same of it; null: there is none, and the source is noted.
   *
   * Throws `SourceError` if a packed file cannot be read again, and the reason of `signal`. Cost: files are read again only where one is packed and unpacks to as
   * many bytes as another.
   */
  async otherOf(one: ReadContent, signal: AbortSignal): Promise<string | null> {
    const key = saidOf(one.source);
    const others = this.#read.get(key) ?? [];
    this.#read.set(key, others);
    for (const other of others) if (await isSameContent(one, other, signal)) return other.source.name;
    others.push(one);
    return null;
  }

  /** Removes a source that was noted and turned out not to count. */
  forget(source: SourceConfig): void {
    const key = saidOf(source);
    const others = this.#read.get(key)?.filter((one) => one.source.name !== source.name);
    this.#read.set(key, others ?? []);
  }
}

/** The settings that give a content its meaning, as text: the same file with other settings is not a duplicate. */
function saidOf({ section, format, rangeType, covers }: SourceConfig): string {
  return JSON.stringify([section, format, rangeType, covers?.map(formatPrefix).sort()]);
}

async function isSameContent(one: ReadContent, other: ReadContent, signal: AbortSignal): Promise<boolean> {
  if (one.stored.sha256 === other.stored.sha256) return true;
  const isPacked = [one, other].some(({ stored, unpacked }) => stored.bytes !== unpacked);
  if (one.unpacked !== other.unpacked || !isPacked) return false;
  return (await unpackedDigest(one, signal)) === (await unpackedDigest(other, signal));
}

async function unpackedDigest({ source }: ReadContent, signal: AbortSignal): Promise<string> {
  const { content } = openSource(source, () => undefined, signal);
  const digest = createHash("sha256");
  for await (const chunk of boundedContent(content).chunks) digest.update(chunk);
  const sha256 = digest.digest("hex");
  return source.feeds === undefined ? sha256 : referredVersion(sha256, source.feeds);
}

/**
 * Tables that do not count because a newer one is of the same collector: it has the same BGP identifier in its peer index, a peer in common (address
 * and AS), and prefixes of the same family. If two are equally new, the first counts. Two files of one collector, one for each family, both count.
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
