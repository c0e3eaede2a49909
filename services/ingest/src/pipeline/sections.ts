/** From inputs to section objects: builds each section, stores it, and writes its entry of the manifest. */

import { PrefixTrie } from "@netfacts/prefix-trie";
import {
  type AllocationsColumns,
  allocationsFormat,
  asNamesColumns,
  asNamesFormat,
  aspasFormat,
  columnPieces,
  type Manifest,
  networkTypesFormat,
  profilesFormat,
  type RoutesColumns,
  RouteTable,
  routesFormat,
  type SectionEntry,
  type SectionName,
  type SnapshotStore,
  type SourceEntry,
  sectionNames,
  vrpsFormat,
} from "@netfacts/snapshot";
import { buildAllocations } from "../build/allocations.ts";
import { buildAspas } from "../build/aspas.ts";
import { buildNetworkTypes } from "../build/network-types.ts";
import { buildProfiles } from "../build/profiles.ts";
import { applySlurm } from "../build/slurm.ts";
import { buildVrps } from "../build/vrps.ts";
import { isStanding, type SourceConfig, type SourcesConfig } from "../sources/index.ts";
import { buildRoutes } from "./build-routes.ts";
import { collectGarbage } from "./collect-garbage.ts";
import type { LastHistory } from "./last-history.ts";
import type { RibReading } from "./rib-readers.ts";
import type { SectionShrink } from "./section-shrink.ts";
import type { TableInputs } from "./table-readers.ts";

/** The sources of a section that were read, and those that failed. */
export interface SectionSources {
  readonly configs: readonly SourceConfig[];
  readonly entries: readonly SourceEntry[];
}

/** What a run built and stored. */
export interface BuiltSnapshot {
  readonly sections: { [S in SectionName]?: SectionEntry };
  /** Null: as before. */
  readonly ingestObjects: Manifest["ingest_objects"] | null;
  /** What an operator should know of how sections were built. */
  readonly notes: Readonly<Partial<Record<SectionName, readonly string[]>>>;
}

export interface SectionInputs {
  readonly tables: TableInputs;
  /** By collector. */
  readonly ribs: Map<string, RibReading>;
  readonly drafts: SectionDrafts;
}

/** A section's object, not stored yet. */
interface SectionDraft {
  readonly pieces: readonly Uint8Array[];
  readonly counts: SectionEntry["counts"];
}

/** Sections that need no other one. */
const independent = ["allocations", "as_names", "profiles", "network_types"] as const;

export type SectionDrafts = { [S in (typeof independent)[number]]?: SectionDraft };

/** IPv4 blocks of registries whose records, as objects, held so much that it is worth while to have it back before the rest is read. */
const manyRecords = 50_000;

/**
 * Builds a section that needs no other one as soon as the last of its sources was read, and lets go of its inputs: these are objects,
 * many times the size of what is built from them. Other sections wait for `buildSections`.
 */
export function draftSection(name: SectionName, inputs: TableInputs, drafts: SectionDrafts): void {
  if (name === "allocations" && inputs.delegated.length > 0) {
    const draft = draftAllocations(inputs);
    drafts.allocations = draft;
    if ((draft.counts.ipv4 ?? 0) >= manyRecords) collectGarbage();
  } else if (name === "as_names" && inputs.names.size > 0) {
    const columns = asNamesColumns(inputs.names);
    inputs.names.clear();
    drafts.as_names = { pieces: columnPieces(asNamesFormat, columns), counts: { names: columns.asn.length } };
  } else if (name === "profiles") {
    const columns = buildProfiles(inputs.profiles.splice(0), inputs.organisations);
    inputs.organisations.clear();
    drafts.profiles = { pieces: columnPieces(profilesFormat, columns), counts: { profiles: columns.asn.length } };
  } else if (name === "network_types") {
    const columns = buildNetworkTypes(inputs.networkTypes.splice(0));
    drafts.network_types = {
      pieces: columnPieces(networkTypesFormat, columns),
      counts: { prefixes: columns.prefix_type.length, asns: columns.as_number.length },
    };
  }
}

/** A function of its own: when it has returned, nothing holds the records. */
function draftAllocations({ delegated }: TableInputs): SectionDraft {
  const { columns, counts, asnConflicts } = buildAllocations(delegated.splice(0));
  return {
    pieces: columnPieces(allocationsFormat, columns satisfies AllocationsColumns),
    counts: { ...counts, asn_conflicts: asnConflicts },
  };
}

/**
 * Builds the sections that have sources and stores each before the next is begun. Inputs are let go of as soon as they are not
 * needed any more, and are empty in the end.
 *
 * A section that shrank too much is left out, and the run keeps the last one.
 *
 * @param previousRoutes  serves the VRPs when no routes were built.
 * @param readHistory  is asked when a RIB was read.
 */
export async function buildSections(
  store: SnapshotStore,
  config: SourcesConfig,
  { tables: inputs, ribs, drafts }: SectionInputs,
  sources: Readonly<Partial<Record<SectionName, SectionSources>>>,
  shrink: SectionShrink,
  previousRoutes: () => Promise<RouteTable | null>,
  readHistory: () => Promise<LastHistory>,
): Promise<BuiltSnapshot> {
  const sections: { [S in SectionName]?: SectionEntry } = {};
  const put = async (pieces: readonly Uint8Array[]) => {
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    return { object: await store.putObject(pieces), bytes };
  };

  for (const name of independent) {
    const draft = drafts[name];
    const from = sources[name];
    if (draft === undefined || from === undefined) continue;
    if (!shrink.takes(name, draft.counts)) {
      delete drafts[name];
      continue;
    }
    sections[name] = {
      ...(await put(draft.pieces)),
      ...timesOf(from, (iso) => iso.slice(0, 10)),
      counts: draft.counts,
      sources: [...from.entries],
    };
    delete drafts[name];
  }
  let ingestObjects: Manifest["ingest_objects"] | null = null;
  let notes: BuiltSnapshot["notes"] = {};
  let routes: RouteTable | null = null;
  if (sources.routes !== undefined) {
    const built = await buildRoutes(config, ribs, put, readHistory);
    if (shrink.takes("routes", built.entry.counts)) {
      ingestObjects = built.ingestObjects;
      notes = { routes: built.notes };
      sections.routes = {
        ...(await put(columnPieces(routesFormat, built.columns))),
        ...timesOf(sources.routes, (iso) => iso.slice(0, 16).replace(/-/g, "").replace("T", ".").replace(":", "")),
        ...built.entry,
        sources: [...sources.routes.entries],
      };
      if (sources.vrps !== undefined) routes = routeTable(built.columns);
    }
  }
  if (sources.vrps !== undefined && sections.routes === undefined) routes = await previousRoutes();
  if (sources.vrps !== undefined) {
    const slurm = applySlurm(joined(inputs.vrps.splice(0)), inputs.slurm);
    const columns = buildVrps([slurm.vrps], routes);
    const times = timesOf(sources.vrps, (iso) => iso.replace(/[-:]/g, ""));
    const loose = columns.loose.reduce((sum, flag) => sum + flag, 0);
    const counts = {
      vrps: columns.asn.length,
      prefixes: columns.vrp_start.length - 1,
      loose,
      ...(inputs.slurm.length > 0 && {
        slurm_filtered: slurm.filtered(),
        slurm_asserted: inputs.slurm.reduce((sum, { exceptions }) => sum + exceptions.assertions.length, 0),
      }),
    };
    if (shrink.takes("vrps", counts))
      sections.vrps = { ...(await put(columnPieces(vrpsFormat, columns))), ...times, counts, sources: [...sources.vrps.entries] };
  }
  if (sources.aspas !== undefined) {
    const columns = buildAspas(inputs.aspas.splice(0));
    const counts = { customers: columns.customer.length, providers: columns.provider.length };
    if (shrink.takes("aspas", counts))
      sections.aspas = {
        ...(await put(columnPieces(aspasFormat, columns))),
        ...timesOf(sources.aspas, (iso) => iso.replace(/[-:]/g, "")),
        counts,
        sources: [...sources.aspas.entries],
      };
  }
  return { sections, ingestObjects, notes };
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
 * Completes the manifest's content: sections that were not built stay as the last manifest has them, but for those that are withdrawn. A
 * snapshot that keeps a section of the sample dataset is sample data still.
 */
export function completeManifest(
  built: BuiltSnapshot,
  previous: Manifest | null,
  sampleData: boolean,
  withdrawn: readonly SectionName[],
): Pick<Manifest, "sample_data" | "sections" | "ingest_objects"> {
  const sections: Manifest["sections"] = {};
  let keepsSample = false;
  for (const name of sectionNames) {
    const section = built.sections[name];
    const before = previous?.sections[name];
    if (section !== undefined) sections[name] = section;
    else if (before !== undefined && !withdrawn.includes(name)) {
      sections[name] = before;
      keepsSample ||= previous?.sample_data === true;
    }
  }
  return {
    sample_data: sampleData || keepsSample,
    sections,
    ingest_objects: built.ingestObjects ?? { ...previous?.ingest_objects },
  };
}
