/** A generation: one snapshot in memory, base sections and overlay, ready for lookups. */

import { PrefixTrie, type PrefixTrieParts } from "@netfacts/prefix-trie";
import { type ColumnSpec, type Columns, decodeColumns } from "./columns.ts";
import type { Ipv4IndexForm } from "./ipv4-index.ts";
import type { RouteOverlay } from "./lookup/route-table.ts";
import { type Manifest, type SectionName, sectionNames } from "./manifest.ts";
import { kindOf, type SectionTables } from "./section-kinds.ts";
import { changedWordIndex } from "./words/changed-word-index.ts";
import { buildWordIndex, WordIndex, type WordIndexParts } from "./words/word-index.ts";

/** A section as it is posted between threads: the bytes of the object and the parts of its trie, all in shared memory. */
export interface LoadedSection {
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  readonly trie: PrefixTrieParts | null;
  /** Absent: the section has no texts to search, or they are not indexed. */
  readonly words?: WordIndexParts;
}

export type LoadedSections = { readonly [S in SectionName]?: LoadedSection };

/** The result of a loader. */
export interface LoadedSnapshot {
  readonly manifest: Manifest;
  readonly sections: LoadedSections;
}

/** Options for loading a section. */
export interface SectionLoading {
  /** Default: "auto". For routes only: other sections have fewer prefixes, and always the compact form. */
  readonly ipv4Index?: Ipv4IndexForm;
  /** Whether texts are indexed for search. A table that was loaded without an index builds it at the first request. Default: false. */
  readonly words?: boolean;
  /** The same section of a snapshot in memory. If few texts changed, the word index is derived from its index. */
  readonly before?: LoadedSection | undefined;
}

/**
 * Checks a section object and builds its trie. The expensive part of loading.
 *
 * Throws `SectionFormatError` or `PrefixOrderError`; a section that is returned can be read without leaving its bounds.
 */
export function loadSection(
  name: SectionName,
  bytes: Uint8Array<SharedArrayBuffer>,
  { ipv4Index = "auto", words = false, before }: SectionLoading = {},
): LoadedSection {
  const { format, check, prefixes, texts, ipv4IndexIsSet = false } = kindOf(name);
  const columns = decodeColumns(format, bytes);
  check(columns);
  const found = words && texts !== undefined ? { words: wordsOf(name, columns, before) } : {};
  if (prefixes === null) return { bytes, trie: null, ...found };
  const ipv4 = ipv4IndexIsSet ? ipv4Index : "compact";
  return { bytes, trie: PrefixTrie.build(prefixes(columns), ipv4 === "auto" ? {} : { ipv4 }).parts, ...found };
}

function wordsOf(name: SectionName, columns: Columns<ColumnSpec>, before: LoadedSection | undefined): WordIndexParts {
  const { format, texts } = kindOf(name);
  if (texts === undefined) throw new TypeError(`section ${name} has no texts`);
  const grouped = texts.isGrouped;
  if (before?.words !== undefined) {
    const old = texts.of(decodeColumns(format, before.bytes, { checked: true }));
    const changed = changedWordIndex({ ...old, parts: before.words }, texts.of(columns), { grouped });
    if (changed !== null) return changed;
  }
  const steps = buildWordIndex(texts.of(columns).texts, { grouped });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The tables as members of an object, so that a lookup reads them from the generation itself. */
const Tables = class {
  constructor(tables: SectionTables) {
    Object.assign(this, tables);
  }
} as new (
  tables: SectionTables,
) => SectionTables;

/**
 * One snapshot, immutable: a lookup takes the reference once and reads everything from it. A table is null if the snapshot has no such section, which
 * means "not known", not "not there".
 */
export class Generation extends Tables {
  readonly manifest: Manifest;

  private constructor(manifest: Manifest, tables: SectionTables) {
    super(tables);
    this.manifest = manifest;
  }

  /** Points at loaded sections; costs microseconds. `overlay` carries changes to routes since the snapshot. */
  static of({ manifest, sections }: LoadedSnapshot, overlay: RouteOverlay | null = null): Generation {
    const tables = sectionNames.map((name) => {
      const kind = kindOf(name);
      const section = sections[name];
      if (section === undefined) return kind.none;
      // Columns that the loader has checked are only pointed at; the checksum is not computed twice.
      return kind.tables(decodeColumns(kind.format, section.bytes, { checked: true }), trieOf(section), overlay, wordIndexOf(section));
    });
    return new Generation(manifest, Object.assign({}, ...tables) as SectionTables);
  }

  get id(): string {
    return this.manifest.id;
  }

  /**
   * The same tables, marked as stale where `newer` has another object, or everywhere if `newer` is null. For a snapshot that goes on serving because
   * a newer one was refused.
   */
  overtakenBy(newer: Manifest | null): Generation {
    const sections: Manifest["sections"] = { ...this.manifest.sections };
    for (const name of sectionsOf(this.manifest)) {
      const entry = sections[name];
      if (entry === undefined || newer?.sections[name]?.object === entry.object) continue;
      sections[name] = { ...entry, stale_after_seconds: staleAtOnce };
    }
    return new Generation({ ...this.manifest, sections }, tablesOf(this));
  }

  /** Full-feed peers of a family; 0 where no peer has a full feed or no routes are imported. */
  peersTotal(version: 4 | 6): number {
    const total = this.manifest.sections.routes?.peers_total;
    return (version === 4 ? total?.ipv4 : total?.ipv6) ?? 0;
  }

  /** Full-feed peers that a match of this family needs (docs/design/semantics.md#which-routes-count): 0 = any peer will do. */
  matchPeersMin(version: 4 | 6): number {
    return this.peersTotal(version) >= manyPeers ? (this.manifest.sections.routes?.match_peers_min ?? matchPeersMinDefault) : 0;
  }
}

/** Limit that every age exceeds. */
const staleAtOnce = -1;

/** Minimum number of full-feed peers from which low visibility means something. */
export const manyPeers = 10;
/** Full-feed peers that a match needs if there are `manyPeers`. */
const matchPeersMinDefault = 2;

function tablesOf(generation: Generation): SectionTables {
  const { manifest: _manifest, ...tables } = generation;
  return tables;
}

/** The index of a section's prefixes. */
function trieOf({ trie }: LoadedSection): PrefixTrie {
  // A kind without prefixes takes no trie.
  return trie === null ? (null as unknown as PrefixTrie) : PrefixTrie.fromParts(trie);
}

function wordIndexOf({ words }: LoadedSection): WordIndex | null {
  return words === undefined ? null : new WordIndex(words);
}

/** Sections that a manifest names, in a fixed order. */
export function sectionsOf(manifest: Manifest): SectionName[] {
  return sectionNames.filter((name) => manifest.sections[name] !== undefined);
}
