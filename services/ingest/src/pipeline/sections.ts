/** From inputs to section objects: builds each section, stores it, and writes its entry of the manifest. */

import { PrefixTrie } from "@netfacts/prefix-trie";
import {
  Generation,
  loadSnapshot,
  type Manifest,
  type RoutesColumns,
  RouteTable,
  type SectionEntry,
  type SectionName,
  type SourceEntry,
  sectionNames,
} from "@netfacts/snapshot";
import { statedSections } from "@netfacts/storage";
import { buildOrder, sectionKinds } from "../section-kinds/index.ts";
import type { SectionDraft } from "../section-kinds/section-kind.ts";
import { isStanding, type SourceConfig } from "../sources/index.ts";
import type { StatementFiles } from "../statements/statement-files.ts";
import { readLastHistory } from "./last-history.ts";
import type { ReadSources } from "./read-all.ts";
import type { RibReading } from "./rib-readers.ts";
import type { Run } from "./run.ts";
import { keptError, refusedText, unreadKeptText } from "./run-report.ts";
import type { TableInputs } from "./table-readers.ts";

export interface SectionSources {
  /** Those that count: they were read, and no other one has the same content or collector. */
  readonly configs: readonly SourceConfig[];
  /** All that were read, and those that failed. */
  readonly entries: readonly SourceEntry[];
}

export type SourcesBySection = Readonly<Partial<Record<SectionName, SectionSources>>>;

/** What a run built and stored. */
export interface BuiltSnapshot {
  readonly sections: { [S in SectionName]?: SectionEntry };
  /** Null: as before. */
  readonly ingestObjects: Manifest["ingest_objects"] | null;
  /** Notes for the operator on how sections were built. */
  readonly notes: Readonly<Partial<Record<SectionName, readonly string[]>>>;
}

export interface SectionInputs {
  readonly tables: TableInputs;
  /** By collector. */
  readonly ribs: Map<string, RibReading>;
  readonly drafts: SectionDrafts;
}

export type SectionDrafts = { [S in SectionName]?: SectionDraft };

/** Builds a section that needs no other one, once the last of its sources was read. Other sections wait for `buildSections`. */
export function draftSection(
  name: SectionName,
  { tables, drafts }: Pick<SectionInputs, "tables" | "drafts">,
  { statements, entries }: { readonly statements: StatementFiles | null; readonly entries: readonly SourceEntry[] },
): void {
  const kind = sectionKinds[name];
  const section = statedSections.find((stated) => stated === name);
  if ("draft" in kind && section !== undefined) statements?.write(section, entries, () => kind.stated?.(tables) ?? []);
  const draft = "draft" in kind ? kind.draft(tables) : null;
  if (draft !== null) drafts[name] = draft;
}

/**
 * Builds the sections that have sources, and stores each before the next is begun. Removes inputs as soon as they are not needed any more, to free their
 * memory: they are empty in the end.
 *
 * A section that shrank too much is left out, and the run keeps the last one. VRPs are compared with the last routes when no routes were built.
 */
export async function buildSections(run: Run, { tables, ribs, drafts }: SectionInputs, sources: SourcesBySection): Promise<BuiltSnapshot> {
  const { store, config, shrink } = run;
  const sections: { [S in SectionName]?: SectionEntry } = {};
  const put = async (pieces: readonly Uint8Array[]) => {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return { object: await store.putObject(pieces), bytes };
  };
  let ingestObjects = null as Manifest["ingest_objects"] | null;
  const notes: { [S in SectionName]?: readonly string[] } = {};
  let newRoutes: RouteTable | null = null;
  const routes = async () => newRoutes ?? (await lastRoutes(run));
  const readHistory = () => readLastHistory(run);

  for (const name of buildOrder) {
    const from = sources[name];
    if (from === undefined) continue;
    const kind = sectionKinds[name];
    const draft = "build" in kind ? await kind.build({ config, tables, ribs, put, readHistory, routes }) : drafts[name];
    delete drafts[name];
    if (draft === undefined || !shrink.takes(name, draft.counts, from.entries)) continue;
    sections[name] = {
      ...(await put(draft.pieces)),
      ...timesOf(from, kind.version, draft.expiresAt ?? null),
      counts: draft.counts,
      ...draft.entry,
      sources: [...from.entries],
    };
    if (draft.ingestObjects !== undefined) ingestObjects = { ...ingestObjects, ...draft.ingestObjects };
    if (draft.notes !== undefined) notes[name] = draft.notes;
    if (draft.routes !== undefined && sources.vrps !== undefined) newRoutes = routeTable(draft.routes);
  }
  return { sections, ingestObjects, notes };
}

async function lastRoutes({ store, previous }: Run): Promise<RouteTable | null> {
  if (previous?.sections.routes === undefined) return null;
  const only = { ...previous, sections: { routes: previous.sections.routes } };
  return Generation.of(await loadSnapshot(store, only)).routes;
}

function routeTable(columns: RoutesColumns): RouteTable {
  const prefixes = {
    ipv4: { address: columns.v4_address, length: columns.v4_length },
    ipv6: { words: columns.v6_words, length: columns.v6_length },
  };
  return new RouteTable({ columns, trie: PrefixTrie.build(prefixes, { ipv4: "compact" }) });
}

/**
 * The times of a section.
 *
 * - `as_of` is that of its oldest source that counts. Standing sources (`isStanding`) count only if there are no others.
 * - It becomes stale when the first of its sources does, and its next version is expected when that of the first source is. Sources that never become
 *   stale do not count for either.
 * - If any of its sources may become stale, it is stale also from the time at which more than 1 % of its records have expired.
 */
function timesOf(
  { configs, entries }: SectionSources,
  version: (iso: string) => string,
  expiresAt: number | null,
): Pick<SectionEntry, "version" | "as_of" | "stale_after_seconds" | "interval_seconds"> {
  const names = new Set(configs.map(({ name }) => name));
  const counted = entries.filter(({ name }) => names.has(name));
  const dated = counted.filter(({ format }) => !isStanding(format));
  const dates = (dated.length === 0 ? counted : dated).flatMap(({ as_of }) => (as_of === null ? [] : [as_of])).sort();
  const asOf = dates[0] ?? "1970-01-01T00:00:00Z";
  const staleAfter: number[] = [];
  const nextAfter: number[] = [];
  for (const { name, staleAfterSeconds, intervalSeconds } of configs) {
    const own = entries.find((entry) => entry.name === name)?.as_of ?? asOf;
    const younger = (Date.parse(own) - Date.parse(asOf)) / 1000;
    if (staleAfterSeconds === null) continue;
    staleAfter.push(younger + staleAfterSeconds);
    nextAfter.push(younger + intervalSeconds);
  }
  if (expiresAt !== null && staleAfter.length > 0) staleAfter.push(Math.max(0, expiresAt - Date.parse(asOf) / 1000));
  const first = (seconds: readonly number[]) => (seconds.length === 0 ? null : Math.min(...seconds));
  return { version: version(asOf), as_of: asOf, stale_after_seconds: first(staleAfter), interval_seconds: first(nextAfter) };
}

/** The entry of a section that stays as it was. Each of its sources says why it was not imported; without a reason it stays as it was. */
function keptSection(entry: SectionEntry, failed: ReadonlySet<string>, isRefused: boolean): SectionEntry {
  const sources = entry.sources.map((source) => {
    const lastRun = failed.has(source.name) ? unreadKeptText : isRefused ? refusedText : null;
    const error = lastRun === null ? source.error : keptError(lastRun, source.error);
    if (error === source.error || source.error !== null) return { ...source, error };
    return { ...source, error, accepted_before: source.accepted };
  });
  return { ...entry, sources };
}

export type ManifestContent = Pick<Manifest, "sample_data" | "sections" | "removed_sections" | "ingest_objects">;

/**
 * Completes the manifest's content: sections that were not built stay as the last manifest has them, except those that are withdrawn. A
 * snapshot that keeps a section of the sample dataset still counts as sample data.
 */
export function completeManifest(
  { config, previous, shrink }: Run,
  built: BuiltSnapshot,
  { failed, withdrawn }: Pick<ReadSources, "failed" | "withdrawn">,
): ManifestContent {
  const sections: Manifest["sections"] = {};
  let keepsSample = false;
  for (const name of sectionNames) {
    const section = built.sections[name];
    const before = previous?.sections[name];
    if (section !== undefined) sections[name] = section;
    else if (before !== undefined && !withdrawn.includes(name)) {
      sections[name] = keptSection(before, failed, shrink.refused.has(name));
      keepsSample ||= previous?.sample_data === true;
    }
  }
  const removed = sectionNames.filter(
    (name) =>
      sections[name] === undefined &&
      (previous?.removed_sections?.includes(name) === true || (previous?.sections[name] !== undefined && withdrawn.includes(name))),
  );
  return {
    sample_data: config.sampleData || keepsSample,
    sections,
    ...(removed.length > 0 && { removed_sections: removed }),
    ingest_objects: built.ingestObjects ?? { ...previous?.ingest_objects },
  };
}
