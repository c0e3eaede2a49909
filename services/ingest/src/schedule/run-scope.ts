/** The sources that one run reads, and the sections that it builds. */

import type { TakenBack } from "@netfacts/snapshot";
import { FetchError } from "../fetch/fetch-error.ts";
import { type ReadyFile, type ReadyFiles, readyFile } from "../fetch/ready-files.ts";
import { md5Beside } from "../pipeline/md5-beside.ts";
import type { ProgressListener } from "../pipeline/progress.ts";
import { failedSourceReport, type RunReport } from "../pipeline/run-report.ts";
import { type BuiltSection, isStanding, type SourceConfig, type SourcesConfig, sectionOf } from "../sources/index.ts";
import type { SourceStock } from "./source-stock.ts";

export interface RunScope {
  readonly sources: readonly SourceConfig[];
  readonly files: ReadyFiles;
  /** Null: every section. */
  readonly only: readonly BuiltSection[] | null;
}

/** Required sources are unavailable, so that a run of everything is not possible. */
export class SourcesAwayError extends Error {
  override readonly name = "SourcesAwayError";
  readonly report: RunReport;
  /** Whether each is, because its file could not be written here. */
  readonly isUnwritten: boolean;

  constructor(config: SourcesConfig, faults: ReadonlyMap<string, Error>) {
    const failed = config.sources.filter(({ name, required }) => required && faults.has(name));
    super(failed.map(({ name }) => `${name}: ${faults.get(name)?.message}`).join("; "));
    const sources = failed.map((source) => failedSourceReport(source, faults.get(source.name) as Error));
    this.report = { ...unbegunReport(config, this.message), sources };
    const isOfDisk = (fault: Error | undefined) => fault instanceof FetchError && fault.fault === "disk";
    this.isUnwritten = failed.every(({ name }) => isOfDisk(faults.get(name)));
  }
}

/** The report of a run that ended before it read a source. */
export function unbegunReport({ sampleData }: SourcesConfig, error: string): RunReport {
  return {
    snapshot: null,
    unchanged: false,
    sample_data: sampleData,
    sources: [],
    sections: [],
    stages: { read: 0, build: 0, verify: 0, publish: 0 },
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
    error,
  };
}

/**
 * Every source in its newest version, also one that an earlier run could not use, because a person requested the run.
 *
 * @throws SourcesAwayError, or the signal's reason.
 */
export async function wholeScope(
  config: SourcesConfig,
  stock: SourceStock,
  signal: AbortSignal,
  onProgress: ProgressListener,
): Promise<RunScope> {
  stock.measure(config.sources);
  const faults = await stock.refresh(config.sources, signal, { onProgress, asksForAll: true });
  // The run itself reports a local file that is absent.
  const away = config.sources.some(({ name, required, fetch }) => required && fetch !== undefined && faults.has(name));
  if (away) throw new SourcesAwayError(config, faults);
  return { sources: config.sources, files: await readyFiles(config.sources, stock, true), only: null };
}

/** @param onFault  called for a source whose files cannot be read now; default: the fault is thrown */
export async function readyFiles(
  sources: readonly SourceConfig[],
  stock: SourceStock,
  all: boolean,
  onFault = (_: SourceConfig, error: Error): void => {
    throw error;
  },
): Promise<ReadyFiles> {
  const files: Record<string, ReadyFile> = {};
  for (const source of sources) {
    try {
      const file = await stock.ready(source, all, await besideOf(source, sources, stock));
      if (file !== null) files[source.name] = file;
    } catch (error) {
      onFault(source, error as Error);
    }
  }
  return files;
}

/** Marks last good versions that a rollback took back: if a newer version cannot be used, the run must not bring these back. */
export function markTakenBack(files: ReadyFiles, sources: readonly SourceConfig[], taken: TakenBack): ReadyFiles {
  const marked = { ...files };
  for (const { name, format } of sources) {
    const file = readyFile(files, name);
    const lastGood = file?.lastGood ?? null;
    if (file === undefined || lastGood === null) continue;
    const isTaken = taken.some((one) => one.name === name && one.format === format && one.sha256 === lastGood.sha256);
    if (isTaken) marked[name] = { ...file, lastGood: { ...lastGood, isTakenBack: true } };
  }
  return marked;
}

/** Sections with a limit for the names of all sources together (`BoundedNames`). In VRPs the names are trust anchors, and SLURM files have none. */
const withNames: readonly BuiltSection[] = ["profiles", "network_types"];

/**
 * The value of `ReadyFile.beside`.
 *
 * - For a list of the operator: the digests of the other such lists; in a section with a limit for names, those of all other sources. Versions that
 *   no run could use count too, so that the value changes only when somebody changes a file or the list of sources.
 * - For a registry's file: the content of its `.md5`.
 */
export async function besideOf(source: SourceConfig, sources: readonly SourceConfig[], stock: SourceStock): Promise<string | undefined> {
  if (source.format === "delegated" && source.fetch === undefined) return md5Beside(source.location);
  if (!isStanding(source.format)) return undefined;
  const section = sectionOf(source);
  const others = sources.filter(
    (other) => other.name !== source.name && sectionOf(other) === section && (isStanding(other.format) || withNames.includes(section)),
  );
  return JSON.stringify(await Promise.all(others.map(async (other) => [other.name, (await stock.newest(other))?.sha256 ?? null])));
}
