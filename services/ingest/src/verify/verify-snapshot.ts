/** Verification before publishing: loads what was stored as a pod does, and compares it with samples of the sources. */

import { PrefixTrie } from "@netfacts/prefix-trie";
import {
  Generation,
  type LoadedSnapshot,
  loadSnapshot,
  type Manifest,
  type SectionName,
  type SnapshotStore,
  sectionNames,
} from "@netfacts/snapshot";
import type { TableInputs } from "../pipeline/table-readers.ts";
import { sectionKinds } from "../section-kinds/index.ts";
import { checkRecords } from "./check-records.ts";
import type { CollectorSample } from "./check-routes.ts";

export interface VerifyOptions {
  readonly store: SnapshotStore;
  /** The manifest to publish. */
  readonly manifest: Manifest;
  /** Sections that this run built. The others were verified when they were built, so that only their bytes are compared with their digests. */
  readonly built: readonly SectionName[];
  readonly collectors: readonly CollectorSample[];
  readonly tables: TableInputs;
  readonly upstreamsMax: number;
  /** Whether the bytes of the other sections are compared with their digests. Default: true. */
  readonly readsKept?: boolean;
}

/** Number of records that were compared, by built section. */
export type CheckedCounts = Partial<Record<SectionName, number>>;

/**
 * @throws WrongAnswerError for the first record with which the snapshot disagrees, and SnapshotError for an object that cannot be read back. Nothing
 * has been published by then.
 */
export async function verifySnapshot(options: VerifyOptions): Promise<CheckedCounts> {
  const { store, manifest, built, collectors, tables, upstreamsMax, readsKept = true } = options;
  const { samples } = tables;
  for (const name of sectionNames) {
    const entry = manifest.sections[name];
    if (readsKept && entry !== undefined && !built.includes(name)) await store.getObject(entry.object, entry.bytes);
  }
  const own = { ...manifest, sections: Object.fromEntries(built.map((name) => [name, manifest.sections[name]])) };
  const loaded = await loadSnapshot(store, own);
  checkTries(loaded);
  const generation = Generation.of(loaded);
  const context = { collectors, samples, tables, upstreamsMax };
  const checked = new Map(sectionNames.map((name) => [name, sectionKinds[name].check(generation, context)]));
  const records: CheckedCounts = checkRecords(generation, collectors, samples, Date.now());
  return Object.fromEntries(built.map((name) => [name, (checked.get(name) ?? 0) + (records[name] ?? 0)]));
}

/** About the number of entries of each trie that are looked up. */
const entriesAsked = 1_000;

/** Looks up a sample of each trie's own prefixes. */
function checkTries({ sections }: LoadedSnapshot): void {
  for (const [name, section] of Object.entries(sections)) {
    if (section.trie === null) continue;
    const trie = PrefixTrie.fromParts(section.trie);
    const step = Math.max(1, Math.floor(trie.size / entriesAsked));
    for (let at = 0; at < trie.size; at += step) {
      const prefix = trie.prefixAt(at);
      const longest = trie.longest(prefix);
      const holds = longest === at || (longest > at && longest < trie.end(at));
      if (trie.exact(prefix) !== at || !holds) throw new Error(`section ${name} does not find its own entry ${at}`);
    }
  }
}
