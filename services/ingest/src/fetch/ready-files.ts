/** Turns sources with URLs into sources with files, which a run reads. */

import type { ReferredFeed } from "../readers/referred-geofeeds.ts";
import { type BuiltSection, type SourceConfig, type SourcesConfig, sectionOf, storedFormat, type UpdateFiles } from "../sources/index.ts";

/** The version of a fetched source that a run last used. */
export interface LastGood {
  /** Absolute path. */
  readonly location: string;
  readonly sha256: string;
  /** A rollback took it back: a run fails rather than publish it again. */
  readonly isTakenBack?: true;
}

/** The file of a source, ready to be read. */
export interface ReadyFile {
  /** Absolute path. */
  readonly location: string;
  readonly sha256: string;
  /** URL that it was fetched from, without secrets, and the time in Unix ms; both are null for a local file. */
  readonly url: string | null;
  readonly fetchedAt: number | null;
  /** The version that a run last used, if it is another one and the source is not required; null: there is none. */
  readonly lastGood: LastGood | null;
  /** No run could use the newest version; this is the version before it. */
  readonly isEarlier?: true;
  /**
   * State of other files that decides whether this one can be used (`besideOf`). For a list of the operator: the newest versions of the other sources
   * that it may conflict with, as text. For a local file of a registry: its `.md5`.
   */
  readonly beside?: string;
  /** For an RTR source: why its session gave up the data; there is no file then. */
  readonly givenUp?: string;
  /** For updates: all their files. `location` is where they were searched for. */
  readonly updates?: UpdateFiles;
  /** For a registry dump: its geofeeds, which `sha256` includes, and the digest of the dump alone. */
  readonly referred?: { readonly feeds: readonly ReferredFeed[]; readonly dumpSha256: string };
}

export type ReadyFiles = Readonly<Record<string, ReadyFile>>;

/** The file of a source. The name of a source may be a member of every object, such as `constructor`. */
export function readyFile(files: ReadyFiles, source: string): ReadyFile | undefined {
  return Object.hasOwn(files, source) ? files[source] : undefined;
}

/**
 * The configuration of a run, in which fetched sources have the path of their file.
 *
 * @param only  sections to build; null: all. Sources of other sections are removed, so that these stay as the last snapshot has them.
 */
export function withFiles(config: SourcesConfig, files: ReadyFiles, only: readonly BuiltSection[] | null): SourcesConfig {
  const sources = config.sources.flatMap((source) => {
    if (only !== null && !only.includes(sectionOf(source))) return [];
    const file = readyFile(files, source.name);
    if (source.format === "rtr") return [rtrSource(source, file)];
    if (source.format === storedFormat) return file === undefined ? [] : [storedFrom(source, file)];
    if (file?.updates !== undefined) return [updatesSource(source, file, file.updates)];
    const feeds = file?.referred === undefined ? {} : { feeds: file.referred.feeds };
    if (source.fetch === undefined) return [{ ...source, ...feeds }];
    // An optional source without any usable version: the run reports it (`openSource`).
    if (file === undefined) return [source];
    const { location, url, fetchedAt, lastGood, isEarlier = false } = file;
    return [{ ...source, ...feeds, location, fetched: { url: url ?? source.location, fetchedAt: fetchedAt ?? 0, lastGood, isEarlier } }];
  });
  return { ...config, sources };
}

function updatesSource(source: SourceConfig, { url, fetchedAt }: ReadyFile, updateFiles: UpdateFiles): SourceConfig {
  if (url === null || fetchedAt === null) return { ...source, updateFiles };
  return { ...source, updateFiles, fetched: { url, fetchedAt, lastGood: null, isEarlier: false } };
}

function storedFrom(source: SourceConfig, { sha256, givenUp }: ReadyFile): SourceConfig {
  return { ...source, storedVersion: sha256, ...(givenUp !== undefined && { givenUp }) };
}

/** Without a session, the run asks the caches itself. */
function rtrSource(source: SourceConfig, file: ReadyFile | undefined): SourceConfig {
  if (file === undefined) return source;
  return file.givenUp === undefined ? { ...source, location: file.location } : { ...source, givenUp: file.givenUp };
}
