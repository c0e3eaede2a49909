/** From inputs to section objects: builds each section, stores it, and writes its entry of the manifest. */

import {
  type AllocationsColumns,
  allocationsFormat,
  asNamesColumns,
  asNamesFormat,
  aspasFormat,
  encodeColumns,
  type LoadedSection,
  loadSection,
  type Manifest,
  pathsFormat,
  type RoutesColumns,
  RouteTable,
  routesFormat,
  type SectionEntry,
  type SectionName,
  type SnapshotStore,
  type SourceEntry,
  sectionNames,
  vrpsFormat,
} from "@netfacts/dataset";
import { PrefixTrie } from "@netfacts/prefix-trie";
import { buildAllocations } from "../build/allocations.ts";
import { buildAspas } from "../build/aspas.ts";
import { buildRoutes } from "../build/routes.ts";
import { applySlurm } from "../build/slurm.ts";
import { buildVrps } from "../build/vrps.ts";
import { isStanding, type SourceConfig, type SourcesConfig } from "../sources/index.ts";
import type { SectionInputs } from "./read-source.ts";

/** The sources of a section that were read, and those that failed. */
export interface SectionSources {
  readonly configs: readonly SourceConfig[];
  readonly entries: readonly SourceEntry[];
}

/** A section's object and its entry, not stored yet. */
export interface BuiltSection {
  readonly entry: Omit<SectionEntry, "object" | "bytes">;
  readonly object: Buffer;
}

export interface BuiltSnapshot {
  readonly sections: { [S in SectionName]?: BuiltSection };
  readonly ingestObjects: Readonly<Record<string, Buffer>>;
}

/** Builds the sections that have sources. `previousRoutes` serves the VRPs when no RIB was read. */
export function buildSections(
  config: SourcesConfig,
  inputs: SectionInputs,
  sources: Readonly<Partial<Record<SectionName, SectionSources>>>,
  previousRoutes: RouteTable | null,
): BuiltSnapshot {
  const sections: { [S in SectionName]?: BuiltSection } = {};
  const ingestObjects: Record<string, Buffer> = {};
  let routes = previousRoutes;

  if (sources.routes !== undefined) {
    const built = buildRoutes(inputs.ribs, { share: config.fullFeedShare, min: config.fullFeedMin });
    routes = routeTable(built.routes);
    const times = timesOf(sources.routes, (iso) => iso.slice(0, 16).replace(/-/g, "").replace("T", ".").replace(":", ""));
    sections.routes = {
      object: encodeColumns(routesFormat, built.routes),
      entry: {
        ...times,
        counts: built.counts,
        sources: [...sources.routes.entries],
        peers_total: built.peersTotal,
        collectors: [...inputs.ribs.collectors],
        match_peers_min: config.matchPeersMin,
      },
    };
    ingestObjects.paths = encodeColumns(pathsFormat, built.paths);
  }
  if (sources.vrps !== undefined) {
    const slurm = applySlurm(joined(inputs.vrps), inputs.slurm);
    const columns = buildVrps([slurm.vrps], routes);
    const times = timesOf(sources.vrps, (iso) => iso.replace(/[-:]/g, ""));
    const loose = columns.loose.reduce((sum, flag) => sum + flag, 0);
    sections.vrps = {
      object: encodeColumns(vrpsFormat, columns),
      entry: {
        ...times,
        counts: {
          vrps: columns.asn.length,
          prefixes: columns.vrp_start.length - 1,
          loose,
          ...(inputs.slurm.length > 0 && {
            slurm_filtered: slurm.filtered(),
            slurm_asserted: inputs.slurm.reduce((sum, { exceptions }) => sum + exceptions.assertions.length, 0),
          }),
        },
        sources: [...sources.vrps.entries],
      },
    };
  }
  if (sources.aspas !== undefined) {
    const columns = buildAspas(inputs.aspas);
    sections.aspas = {
      object: encodeColumns(aspasFormat, columns),
      entry: {
        ...timesOf(sources.aspas, (iso) => iso.replace(/[-:]/g, "")),
        counts: { customers: columns.customer.length, providers: columns.provider.length },
        sources: [...sources.aspas.entries],
      },
    };
  }
  if (sources.allocations !== undefined) {
    const built = buildAllocations(inputs.delegated);
    const times = timesOf(sources.allocations, (iso) => iso.slice(0, 10));
    sections.allocations = {
      object: encodeColumns(allocationsFormat, built.columns satisfies AllocationsColumns),
      entry: { ...times, counts: { ...built.counts, asn_conflicts: built.asnConflicts }, sources: [...sources.allocations.entries] },
    };
  }
  if (sources.as_names !== undefined) {
    const columns = asNamesColumns(inputs.names);
    const times = timesOf(sources.as_names, (iso) => iso.slice(0, 10));
    sections.as_names = {
      object: encodeColumns(asNamesFormat, columns),
      entry: { ...times, counts: { names: columns.asn.length }, sources: [...sources.as_names.entries] },
    };
  }
  return { sections, ingestObjects };
}

function* joined<T>(lists: readonly Iterable<T>[]): Generator<T> {
  for (const list of lists) yield* list;
}

function routeTable(columns: RoutesColumns): RouteTable {
  const prefixes = {
    ipv4: { address: columns.v4_address, length: columns.v4_length },
    ipv6: { words: columns.v6_words, length: columns.v6_length },
  };
  return new RouteTable({ columns, trie: PrefixTrie.build(prefixes, { ipv4: "compact" }) });
}

/**
 * `as_of` of a section is that of its oldest source, standing ones (`isStanding`) apart where there are others. It is stale from when the first of its sources is, and its next version is
 * expected when that of the first of them is; a source that never goes stale has no say in either.
 */
function timesOf(
  { configs, entries }: SectionSources,
  version: (iso: string) => string,
): Pick<SectionEntry, "version" | "as_of" | "stale_after_seconds" | "interval_seconds"> {
  const dated = entries.filter(({ format }) => !isStanding(format));
  const dates = (dated.length === 0 ? entries : dated).flatMap(({ as_of }) => (as_of === null ? [] : [as_of])).sort();
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
  const first = (seconds: readonly number[]) => (seconds.length === 0 ? null : Math.min(...seconds));
  return { version: version(asOf), as_of: asOf, stale_after_seconds: first(staleAfter), interval_seconds: first(nextAfter) };
}

/**
 * Stores the objects and completes the manifest's content; sections that were not built stay as the last manifest has
 * them. A snapshot that keeps a section of the sample dataset is sample data still.
 */
export async function storeSections(
  store: SnapshotStore,
  built: BuiltSnapshot,
  previous: Manifest | null,
  sampleData: boolean,
): Promise<Pick<Manifest, "sample_data" | "sections" | "ingest_objects">> {
  const sections: Manifest["sections"] = {};
  let keepsSample = false;
  for (const name of sectionNames) {
    const section = built.sections[name];
    const before = previous?.sections[name];
    if (section !== undefined)
      sections[name] = { object: await store.putObject(section.object), bytes: section.object.length, ...section.entry };
    else if (before !== undefined) {
      sections[name] = before;
      keepsSample ||= previous?.sample_data === true;
    }
  }
  const ingestObjects: Manifest["ingest_objects"] = { ...previous?.ingest_objects };
  for (const [name, object] of Object.entries(built.ingestObjects))
    ingestObjects[name] = { object: await store.putObject(object), bytes: object.length };
  return { sample_data: sampleData || keepsSample, sections, ingest_objects: ingestObjects };
}

/** How many entries of each trie are asked when a snapshot is verified. */
const sampleSize = 1_000;

/**
 * Reads back what was stored, as a pod will, and asks each trie for a sample of its own prefixes.
 *
 * Throws when an object cannot be loaded or answers wrongly; nothing has been published by then.
 */
export async function verifySections(store: SnapshotStore, sections: Manifest["sections"]): Promise<void> {
  for (const [name, entry] of Object.entries(sections) as [SectionName, SectionEntry][]) {
    const loaded: LoadedSection = loadSection(name, await store.getObject(entry.object, entry.bytes));
    if (loaded.trie === null) continue;
    const trie = PrefixTrie.fromParts(loaded.trie);
    const step = Math.max(1, Math.floor(trie.size / sampleSize));
    for (let at = 0; at < trie.size; at += step) {
      const prefix = trie.prefixAt(at);
      const longest = trie.longest(prefix);
      const holds = longest === at || (longest > at && longest < trie.end(at));
      if (trie.exact(prefix) !== at || !holds) throw new Error(`section ${name} does not find its own entry ${at}`);
    }
  }
}
