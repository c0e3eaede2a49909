/** From sources with URLs to sources with files: what a run reads. */

import type { ReferredFeed } from "../readers/referred-geofeeds.ts";
import { type BuiltSection, type SourceConfig, type SourcesConfig, sectionOf, storedFormat, type UpdateFiles } from "../sources/index.ts";

/** The version of a fetched source that a run last used. */
export interface LastGood {
  /** Absolute path. */
  readonly location: string;
  readonly sha256: string;
  /** By a rollback: a run fails rather than publish it again. */
  readonly isTakenBack?: true;
}

/** The file of a source, ready to be read. */
export interface ReadyFile {
  /** Absolute path. */
  readonly location: string;
  readonly sha256: string;
  /** Where it was fetched from, as it may be shown, and when (Unix ms); null for a file. */
  readonly url: string | null;
  readonly fetchedAt: number | null;
  /** The version that a run last used, where that is another and the source is not required. */
  readonly lastGood: LastGood | null;
  /** The newest version is one that a run could not use, and this is the one before. */
  readonly isEarlier?: true;
  /** Of a list that the operator writes: the newest versions of other sources that it may not go together with, as text. Of a registry's file on disk: its `.md5`. */
  readonly beside?: string;
  /** Of an RTR source: why its session gave up the data; there is no file then. */
  readonly givenUp?: string;
  /** Of updates: all files that there are of them. `location` is where they were looked for. */
  readonly updates?: UpdateFiles;
  /** Of a registry dump: its geofeeds, which `sha256` is of too, and the digest of the dump alone. */
  readonly referred?: { readonly feeds: readonly ReferredFeed[]; readonly dumpSha256: string };
}

export type ReadyFiles = Readonly<Record<string, ReadyFile>>;

/** The file of a source, whose name may be that of a member of every object, such as `constructor`. */
export function readyFile(files: ReadyFiles, source: string): ReadyFile | undefined {
  return Object.hasOwn(files, source) ? files[source] : undefined;
}

/**
 * The configuration of a run: fetched sources read their files.
 *
 * @param only  sections to be built; null: all. What belongs to others is left out, so that they stay as the last snapshot has them.
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
    // An optional source of which nothing usable was ever fetched: the run tells that (`openSource`).
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

/** Without a session the run asks the caches itself. */
function rtrSource(source: SourceConfig, file: ReadyFile | undefined): SourceConfig {
  if (file === undefined) return source;
  return file.givenUp === undefined ? { ...source, location: file.location } : { ...source, givenUp: file.givenUp };
}
