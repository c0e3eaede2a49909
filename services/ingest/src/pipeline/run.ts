/** A run of ingest: read, build, verify, publish. What served before stays until the last step. */

import { statSync } from "node:fs";
import { timestamp } from "@netfacts/contracts";
import {
  Generation,
  loadSnapshot,
  type Manifest,
  type SectionName,
  type SnapshotStore,
  SnapshotUnavailableError,
  type SourceEntry,
  sealManifest,
  sectionNames,
} from "@netfacts/snapshot";
import { type ReaderReport, SourceError } from "../readers/index.ts";
import { isStanding, type SourceConfig, type SourcesConfig, sectionOf } from "../sources/index.ts";
import { verifySnapshot } from "../verify/verify-snapshot.ts";
import { readLastHistory } from "./last-history.ts";
import { isRibSource, type ListedSource, listedSources } from "./listed-sources.ts";
import type { ProgressListener } from "./progress.ts";
import type { RibSource } from "./read-rib.ts";
import { DataGivenUpError, readRtrSource } from "./read-rtr.ts";
import { readSource } from "./read-source.ts";
import { type ReadUpdates, UpdatesError } from "./read-updates.ts";
import { RibReaders, type RibReading } from "./rib-readers.ts";
import { failedSourceReport, type RunReport, type SourceReport, sourceReport, updatesReport } from "./run-report.ts";
import { SectionShrink } from "./section-shrink.ts";
import { buildSections, completeManifest, draftSection, type SectionInputs, type SectionSources } from "./sections.ts";
import { TableInputs } from "./table-readers.ts";

export interface RunOptions {
  readonly config: SourcesConfig;
  readonly store: SnapshotStore;
  readonly onProgress?: ProgressListener;
  /** Ends the run within a moment; nothing is published then. */
  readonly signal?: AbortSignal;
  /** Awaited before the pointer moves; a rejection ends the run, and nothing is published. */
  beforePublish?(): Promise<void>;
  /** Sections that may lose what they like against the last snapshot, and their sources against their last good versions. */
  readonly acceptShrink?: readonly SectionName[];
  /** Size of a stored RIB from which on a thread of its own reads it; default 1 MiB. */
  readonly ribThreadBytesMin?: number;
}

/** A run that published nothing. `report` tells how far it came. */
export class IngestError extends Error {
  override readonly name = "IngestError";
  readonly report: RunReport;

  constructor(message: string, report: RunReport, options: { cause: unknown }) {
    super(message, options);
    this.report = report;
  }
}

/**
 * Imports the sources of a configuration and publishes one snapshot.
 *
 * A required source that cannot be trusted ends the run with `IngestError`, as does a full disk; an optional one is reported
 * and left out, or read in its last good version where that was kept; a section none of whose sources could be read, or that shrank too
 * much, stays as the last snapshot has it, but for one whose RTR data were given up: that is withdrawn.
 */
export async function runIngest(options: RunOptions): Promise<RunReport> {
  const { config, store, onProgress = () => {}, signal, beforePublish, acceptShrink = [], ribThreadBytesMin } = options;
  const sourceReports: SourceReport[] = [];
  const stages = { read: 0, build: 0, verify: 0, publish: 0 };
  let built: RunReport["sections"] = [];
  const report = (snapshot: string | null, unchanged: boolean, error: string | null): RunReport => ({
    snapshot,
    unchanged,
    sample_data: config.sampleData,
    sources: sourceReports.sort(inFileOrder(config)),
    sections: built,
    stages,
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
    error,
  });
  const timed = async <T>(stage: keyof typeof stages, work: () => Promise<T> | T): Promise<T> => {
    signal?.throwIfAborted();
    const started = performance.now();
    try {
      return await work();
    } finally {
      stages[stage] = Math.round(performance.now() - started) / 1000;
    }
  };

  let ribs: RibReaders | null = null;
  try {
    signal?.throwIfAborted();
    const replaces = await store.currentId();
    const previous = await lastManifest(store, replaces);
    const listed = listedSources(config.sources);
    ribs = new RibReaders(listed.filter(isRibSource), { onProgress, signal, threadBytesMin: ribThreadBytesMin });
    const readers = ribs;
    const { inputs, sources, withdrawn } = await timed("read", () =>
      readAll(config, listed, previous, acceptShrink, readers, sourceReports, onProgress, signal),
    );
    const collectors = [...inputs.ribs].map(([source, { sample }]) => ({ source, sample }));
    const content = await timed("build", async () => {
      onProgress({ label: "build", done: 0, total: 1, unit: "steps" });
      const routes = () => routesOf(store, previous);
      const history = () => readLastHistory(store, replaces, previous, config.sampleData);
      const shrink = new SectionShrink({ config, previous, accepted: acceptShrink });
      const snapshot = await buildSections(store, config, inputs, sources, shrink, routes, history);
      const stored = completeManifest(snapshot, previous, config.sampleData, withdrawn);
      built = sectionNames.flatMap((name) => {
        const entry = stored.sections[name];
        if (entry === undefined) return [];
        const notes = snapshot.notes[name] ?? [];
        const kept = snapshot.sections[name] === undefined;
        const refused = shrink.refused.get(name) ?? null;
        return [{ name, version: entry.version, kept, refused, checked: 0, counts: entry.counts, ...(notes.length > 0 && { notes }) }];
      });
      onProgress({ label: "build", done: 1, total: 1, unit: "steps" });
      return stored;
    });
    const manifest = sealManifest(content);
    await timed("verify", async () => {
      const own = built.flatMap(({ name, kept }) => (kept ? [] : [name]));
      const { samples } = inputs.tables;
      const checked = await verifySnapshot({ store, manifest, built: own, collectors, samples, upstreamsMax: config.upstreamsMax });
      built = built.map((section) => ({ ...section, checked: checked[section.name] ?? 0 }));
    });
    const unchanged = previous?.id === manifest.id;
    await beforePublish?.();
    // What was read and kept is of the snapshot that was current then: over another one it must not go.
    await timed("publish", () => store.publish(manifest, { replaces }));
    onProgress({ label: "publish", done: 1, total: 1, unit: "steps" });
    return report(manifest.id, unchanged, null);
  } catch (cause) {
    const message = describeFailure(cause as Error);
    throw new IngestError(message, report(null, false, message), { cause });
  } finally {
    await ribs?.stop();
  }
}

/** Compares sources, or what stands for them, by their place in the file. */
function inFileOrder({ sources }: SourcesConfig): (a: { readonly name: string }, b: { readonly name: string }) => number {
  const places = new Map(sources.map(({ name }, place) => [name, place]));
  return (a, b) => (places.get(a.name) ?? 0) - (places.get(b.name) ?? 0);
}

/**
 * The current manifest; a damaged one counts as none, since this run is about to replace it. Throws `SnapshotUnavailableError`: what was
 * only not to be had now must not be forgotten.
 */
async function lastManifest(store: SnapshotStore, id: string | null): Promise<Manifest | null> {
  if (id === null) return null;
  return store.getManifest(id).catch((error: unknown) => {
    if (error instanceof SnapshotUnavailableError) throw error;
    return null;
  });
}

async function routesOf(store: SnapshotStore, manifest: Manifest | null) {
  if (manifest?.sections.routes === undefined) return null;
  const only = { ...manifest, sections: { routes: manifest.sections.routes } };
  return Generation.of(await loadSnapshot(store, only)).routes;
}

async function readAll(
  config: SourcesConfig,
  listed: readonly ListedSource[],
  previous: Manifest | null,
  acceptShrink: readonly SectionName[],
  readers: RibReaders,
  reports: SourceReport[],
  onProgress: ProgressListener,
  signal: AbortSignal | undefined,
): Promise<{ inputs: SectionInputs; sources: Partial<Record<SectionName, SectionSources>>; withdrawn: SectionName[] }> {
  const inputs = { tables: new TableInputs(), ribs: new Map<string, RibReading>(), drafts: {} };
  const sources: Partial<Record<SectionName, { configs: SourceConfig[]; entries: SourceEntry[] }>> = {};
  const failed: SourceConfig[] = [];
  const givenUp = new Set<SectionName>();
  // What threads read is waited for last: the other sources are read meanwhile.
  const threaded = listed.filter((source) => readers.isThreaded(source));
  const lastOf = new Map(listed.map((source) => [source.section, source]));
  /** @param newer  why its newest version cannot be used, where this is the one before. */
  const read = async (source: ListedSource, newer: Error | null): Promise<void> => {
    const check = ({ accepted }: ReaderReport) => {
      if (!acceptShrink.includes(source.section)) refuseShrunk(source, accepted, previous);
    };
    const { report, stored, side, updates } = isRibSource(source)
      ? { ...(await readRib(source, readers, inputs.ribs, check)), side: undefined }
      : {
          ...(await (source.format === "rtr" ? readRtrSource : readSource)(source, inputs.tables, check, onProgress, signal)),
          updates: null,
        };
    // A file that tells no date of its own is as of when it was last written.
    const asOf = timestamp((report.asOf ?? source.asOf ?? statSync(source.location).mtimeMs / 1000) * 1000);
    reports.push(sourceReport(source, report, stored, asOf, newer));
    const own = { section: source.section, accepted: report.accepted, skipped: report.read - report.accepted };
    for (const { section: name, accepted, skipped } of side === undefined ? [own] : [own, side]) {
      const section = sources[name] ?? { configs: [], entries: [] };
      sources[name] = section;
      section.configs.push(source);
      const error =
        newer === null ? null : "the newest version of this source could not be used in the last run; the previous version is in use";
      const entry = sourceEntry(source, stored.sha256, asOf, accepted, skipped, error);
      section.entries.push(newer === null ? entry : { ...entry, accepted_before: accepted });
    }
    if (updates !== null && isRibSource(source)) tellUpdates(source, updates);
  };
  const tellUpdates = ({ updates: source }: RibSource, updates: ReadUpdates): void => {
    if (source === null) return;
    const told = updatesReport(source, updates);
    reports.push(told);
    if (told.state === "failed") failed.push(source);
    else {
      const { report, error, stored } = updates;
      const left = error === null ? null : "some of its files could not be used in the last run";
      sources.routes?.configs.push(source);
      sources.routes?.entries.push(sourceEntry(source, stored.sha256, told.as_of, report.accepted, report.read - report.accepted, left));
    }
  };
  for (const source of [...listed.filter((one) => !readers.isThreaded(one)), ...threaded]) {
    signal?.throwIfAborted();
    try {
      await read(source, null);
    } catch (error) {
      // What a reader makes of being stopped is no fault of its source.
      signal?.throwIfAborted();
      const lastGood = source.required ? null : (source.fetched?.lastGood ?? null);
      const isKept = lastGood !== null && (await succeeds(() => read({ ...source, location: lastGood }, error as Error)));
      signal?.throwIfAborted();
      if (!isKept) {
        const updates = isRibSource(source) ? source.updates : null;
        if (error instanceof UpdatesError && updates !== null) {
          reports.push(failedSourceReport(updates, error, error.refused));
          throw error;
        }
        reports.push(failedSourceReport(source, error as Error));
        if (error instanceof DataGivenUpError) givenUp.add(source.section);
        else if (source.required) throw error;
        failed.push(source);
      }
    }
    if (source === lastOf.get(source.section)) draftSection(source.section, inputs.tables, inputs.drafts);
  }
  const order = inFileOrder(config);
  for (const { configs, entries } of Object.values(sources)) {
    configs.sort(order);
    entries.sort(order);
  }
  for (const source of failed.sort(order)) {
    const before = acceptedBefore(source, previous);
    const entry = sourceEntry(source, "", null, 0, 0, "could not be read in the last run");
    sources[sectionOf(source)]?.entries.push(before === null ? entry : { ...entry, accepted_before: before });
  }
  // Exceptions alone are no data: with nothing but them every route would be unknown to RPKI.
  const withdrawn = [...givenUp].filter((name) => sources[name]?.configs.every(({ format }) => isStanding(format)) ?? true);
  for (const name of withdrawn) delete sources[name];
  return { inputs, sources, withdrawn };
}

async function succeeds(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch {
    return false;
  }
}

/** A RIB that fails leaves nothing behind. */
async function readRib(
  source: RibSource,
  readers: RibReaders,
  ribs: Map<string, RibReading>,
  check: (report: ReaderReport) => void,
): Promise<RibReading> {
  const rib = await readers.read(source);
  check(rib.report);
  ribs.set(source.name, rib);
  return rib;
}

function sourceEntry(
  source: SourceConfig,
  sha256: string,
  asOf: string | null,
  accepted: number,
  skipped: number,
  error: string | null,
): SourceEntry {
  return { name: source.name, format: source.format, sha256, as_of: asOf, accepted, skipped, error };
}

/** How many records the last good version of a source had; null where none is known. */
function acceptedBefore(source: SourceConfig, previous: Manifest | null): number | null {
  const entry = previous?.sections[sectionOf(source)]?.sources.find(({ name }) => name === source.name);
  if (entry === undefined) return null;
  return entry.error === null ? entry.accepted : (entry.accepted_before ?? null);
}

/** Refuses a source that lost more of its records than its bound allows, against the last good one. */
function refuseShrunk(source: SourceConfig, accepted: number, previous: Manifest | null): void {
  const before = acceptedBefore(source, previous);
  if (before !== null && accepted < before * (1 - source.shrinkMax))
    throw new SourceError(
      source.location,
      null,
      `has ${accepted} records, compared with ${before} in the last good version: it shrank by more than shrink_max (${source.shrinkMax}) allows`,
    );
}

function describeFailure(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOSPC") return `the disk is full: ${error.message}; nothing was published`;
  if (code === "EACCES" || code === "EROFS") return `cannot write: ${error.message}; nothing was published`;
  if (error.name === "AbortError") return "stopped; nothing was published";
  return error.message;
}
