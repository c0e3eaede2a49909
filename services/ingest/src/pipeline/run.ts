/** A run of ingest: read, build, verify, publish. What served before stays until the last step. */

import { statSync } from "node:fs";
import {
  Generation,
  loadSnapshot,
  type Manifest,
  type SectionName,
  type SnapshotStore,
  type SourceEntry,
  sealManifest,
  sectionNames,
} from "@netfacts/dataset";
import { type ReaderReport, SourceError } from "../readers/index.ts";
import type { SourceConfig, SourcesConfig } from "../sources/index.ts";
import type { ProgressListener } from "./progress.ts";
import { readSource, SectionInputs } from "./read-source.ts";
import { failedSourceReport, type RunReport, type SourceReport, sourceReport } from "./run-report.ts";
import { buildSections, type SectionSources, storeSections, verifySections } from "./sections.ts";

export interface RunOptions {
  readonly config: SourcesConfig;
  readonly store: SnapshotStore;
  readonly onProgress?: ProgressListener;
  /** Ends the run within a moment; nothing is published then. */
  readonly signal?: AbortSignal;
  /** Awaited before the pointer moves; a rejection ends the run, and nothing is published. */
  beforePublish?(): Promise<void>;
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
 * and left out, and a section none of whose sources could be read stays as the last snapshot has it.
 */
export async function runIngest({ config, store, onProgress = () => {}, signal, beforePublish }: RunOptions): Promise<RunReport> {
  const sourceReports: SourceReport[] = [];
  const stages = { read: 0, build: 0, verify: 0, publish: 0 };
  let built: RunReport["sections"] = [];
  const report = (snapshot: string | null, unchanged: boolean, error: string | null): RunReport => ({
    snapshot,
    unchanged,
    sample_data: config.sampleData,
    sources: sourceReports,
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

  try {
    const replaces = await store.currentId();
    const previous = await lastManifest(store, replaces);
    const { inputs, sources } = await timed("read", () => readAll(config, previous, sourceReports, onProgress, signal));
    const content = await timed("build", async () => {
      onProgress({ label: "build", done: 0, total: 1, unit: "steps" });
      const previousRoutes = sources.routes === undefined && sources.vrps !== undefined ? await routesOf(store, previous) : null;
      const snapshot = buildSections(config, inputs, sources, previousRoutes);
      const stored = await storeSections(store, snapshot, previous, config.sampleData);
      built = sectionNames.flatMap((name) => {
        const entry = stored.sections[name];
        return entry === undefined
          ? []
          : [{ name, version: entry.version, kept: snapshot.sections[name] === undefined, counts: entry.counts }];
      });
      onProgress({ label: "build", done: 1, total: 1, unit: "steps" });
      return stored;
    });
    await timed("verify", () => verifySections(store, content.sections));
    const manifest = sealManifest(content);
    const unchanged = previous?.id === manifest.id;
    await beforePublish?.();
    // What was read and kept is of the snapshot that was current then: over another one it must not go.
    await timed("publish", () => store.publish(manifest, { replaces }));
    onProgress({ label: "publish", done: 1, total: 1, unit: "steps" });
    return report(manifest.id, unchanged, null);
  } catch (cause) {
    const message = describeFailure(cause as Error);
    throw new IngestError(message, report(null, false, message), { cause });
  }
}

/** The current manifest; a damaged one counts as none, since this run is about to replace it. */
async function lastManifest(store: SnapshotStore, id: string | null): Promise<Manifest | null> {
  return id === null ? null : store.getManifest(id).catch(() => null);
}

async function routesOf(store: SnapshotStore, manifest: Manifest | null) {
  if (manifest?.sections.routes === undefined) return null;
  const only = { ...manifest, sections: { routes: manifest.sections.routes } };
  return Generation.of(await loadSnapshot(store, only)).routes;
}

async function readAll(
  config: SourcesConfig,
  previous: Manifest | null,
  reports: SourceReport[],
  onProgress: ProgressListener,
  signal: AbortSignal | undefined,
): Promise<{ inputs: SectionInputs; sources: Partial<Record<SectionName, SectionSources>> }> {
  const failed = new Map<string, Error>();
  for (;;) {
    // A RIB that breaks midway leaves a part of itself in the inputs: what can be read is then read again without it.
    const inputs = new SectionInputs();
    const sources: Partial<Record<SectionName, { configs: SourceConfig[]; entries: SourceEntry[] }>> = {};
    let again = false;
    reports.length = 0;
    for (const source of config.sources) {
      signal?.throwIfAborted();
      if (failed.has(source.name)) continue;
      try {
        const check = ({ accepted }: ReaderReport) => refuseShrunk(source, accepted, previous);
        const { report, stored, side } = await readSource(source, inputs, check, onProgress, signal);
        // A file that tells no date of its own is as of when it was last written.
        const asOf = isoTime((report.asOf ?? source.asOf ?? statSync(source.location).mtimeMs / 1000) * 1000);
        reports.push(sourceReport(source, report, stored, asOf));
        const own = { section: source.section, accepted: report.accepted, skipped: report.read - report.accepted };
        for (const { section: name, accepted, skipped } of side === undefined ? [own] : [own, side]) {
          const section = sources[name] ?? { configs: [], entries: [] };
          sources[name] = section;
          section.configs.push(source);
          section.entries.push(sourceEntry(source, stored.sha256, asOf, accepted, skipped, null));
        }
      } catch (error) {
        // What a reader makes of being stopped is no fault of its source.
        signal?.throwIfAborted();
        if (source.required) {
          reports.push(failedSourceReport(source, error as Error));
          throw error;
        }
        failed.set(source.name, error as Error);
        again = source.section === "routes";
        if (again) break;
      }
    }
    if (again) {
      onProgress({ label: "read again", done: 0, total: null, unit: "steps" });
      continue;
    }
    for (const source of config.sources) {
      const error = failed.get(source.name);
      if (error === undefined) continue;
      const before = acceptedBefore(source, previous);
      const entry = sourceEntry(source, "", null, 0, 0, "could not be read in the last run");
      sources[source.section]?.entries.push(before === null ? entry : { ...entry, accepted_before: before });
      reports.push(failedSourceReport(source, error));
    }
    return { inputs, sources };
  }
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
function acceptedBefore({ section, name }: SourceConfig, previous: Manifest | null): number | null {
  const entry = previous?.sections[section]?.sources.find((source) => source.name === name);
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
      `has ${accepted} records where the last good one had ${before}: shrunk by more than shrink_max (${source.shrinkMax}) allows`,
    );
}

/** RFC 3339 in whole seconds. */
function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function describeFailure(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOSPC") return `the disk is full: ${error.message}; nothing was published`;
  if (code === "EACCES" || code === "EROFS") return `cannot write: ${error.message}; nothing was published`;
  if (error.name === "AbortError") return "stopped; nothing was published";
  return error.message;
}
