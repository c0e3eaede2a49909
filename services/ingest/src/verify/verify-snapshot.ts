/** Verification before publishing: reads what was stored as a pod will, and asks it for what the sources were seen to say. */

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
  /** What is about to be published. */
  readonly manifest: Manifest;
  /** Sections that this run built; the others were verified when they were, and only their bytes are compared with their digests. */
  readonly built: readonly SectionName[];
  readonly collectors: readonly CollectorSample[];
  readonly tables: TableInputs;
  readonly upstreamsMax: number;
  /** Whether the bytes of the other sections are compared with their digests. Default: true. */
  readonly readsKept?: boolean;
}

/** How many records were asked for, by section that was built. */
export type CheckedCounts = Partial<Record<SectionName, number>>;

/**
 * Throws `WrongAnswerError` for the first record that the snapshot does not answer as its source demands, and `SnapshotError` for an
 * object that cannot be read back. Nothing has been published by then.
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

/** How many entries of each trie are asked for themselves. */
const entriesAsked = 1_000;

/** Asks each trie for a sample of its own prefixes. */
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
