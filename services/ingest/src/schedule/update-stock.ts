/** The stock of the updates of a table: files of a folder, or fetched files. */

import { stat } from "node:fs/promises";
import { pathOf, readFilesOf, readSteps, usableSteps } from "../fetch/index.ts";
import type { ReadyFile } from "../fetch/ready-files.ts";
import type { SourceConfig, UpdateFiles } from "../sources/index.ts";
import { digestOfAll, filesSince, firstTimestamp, listUpdateFiles, sha256Of } from "../updates/update-files.ts";
import type { RefusedVersion } from "./source-state.ts";

/** A file as it was when it was last looked at. */
interface Looked {
  readonly mtimeMs: number;
  readonly size: number;
  readonly from: number | null;
  /** Null: not computed yet. */
  sha256: string | null;
}

type Found = UpdateFiles & Pick<ReadyFile, "url" | "fetchedAt">;

export class UpdateStock {
  readonly #downloads: string;
  /** By path: a file is read again only when its time or size has changed. */
  readonly #looked = new Map<string, Looked>();
  /** By source: the files that were there at the last look. */
  readonly #filesOf = new Map<string, readonly string[]>();

  constructor(downloads: string) {
    this.#downloads = downloads;
  }

  /** Unix seconds of a table's first record; null if that cannot be read. */
  async timeOf(table: string): Promise<number | null> {
    return (await this.#look(table))?.from ?? null;
  }

  async #sha256Of(path: string): Promise<string> {
    const looked = await this.#look(path);
    // The file was removed a moment ago: nothing will read it.
    if (looked === null) return "";
    if (looked.sha256 !== null) return looked.sha256;
    looked.sha256 = await sha256Of(path);
    return looked.sha256;
  }

  /**
   * The updates that a run may read. The digest covers only the files that the table needs.
   *
   * @param refused  a version that no run could use: that of one file, or of all; null: there is none.
   * @returns null if there are none, or none that is not refused
   */
  async ready(source: SourceConfig, table: string, refused: RefusedVersion | null): Promise<ReadyFile | null> {
    const since = await this.timeOf(table);
    const found = since === null ? null : await this.#find(source, since);
    if (since === null || found === null) return null;
    const { url, fetchedAt, files, missing } = found;
    this.#forget(source.name, files);
    const needed = await filesSince(files, since, (path) => this.timeOf(path));
    const digests: string[] = [];
    for (const path of needed) digests.push(await this.#sha256Of(path));
    const left = refused === null ? -1 : digests.indexOf(refused.sha256);
    const sha256 = digestOfAll(left < 0 ? digests : digests.slice(0, left));
    const base = { location: source.location, url, fetchedAt, lastGood: null, sha256 };
    if (refused === null || left < 0) return sha256 === refused?.sha256 ? null : { ...base, updates: { files, missing } };
    if (source.required || left === 0) return null;
    const file = needed[left] as string;
    return { ...base, updates: { files: files.slice(0, files.indexOf(file)), missing, refused: { file, error: refused.error } } };
  }

  /** The digest of a file that was `ready`; null: it is not known. */
  digestOf(path: string): string | null {
    return this.#looked.get(path)?.sha256 ?? null;
  }

  /** Drops the state of files that were removed. */
  #forget(source: string, files: readonly string[]): void {
    const here = new Set(files);
    for (const path of this.#filesOf.get(source) ?? []) if (!here.has(path)) this.#looked.delete(path);
    this.#filesOf.set(source, files);
  }

  async #find({ name, location, fetch }: SourceConfig, since: number): Promise<Found | null> {
    if (fetch === undefined) {
      const files = listedOrNull(location);
      return files === null ? null : { files, missing: null, url: null, fetchedAt: null };
    }
    if (fetch.everySeconds === 0) {
      const { latest } = await readFilesOf(this.#downloads, name);
      if (latest === null) return null;
      return { files: [pathOf(this.#downloads, name, latest)], missing: null, url: latest.url, fetchedAt: latest.fetchedAt };
    }
    const { files, missing } = usableSteps(await readSteps(this.#downloads, name), fetch.everySeconds, since);
    const newest = files.at(-1)?.file;
    return { files: files.map(({ path }) => path), missing, url: newest?.url ?? null, fetchedAt: newest?.fetchedAt ?? null };
  }

  /** Null: the file does not exist any more. */
  async #look(path: string): Promise<Looked | null> {
    const found = await stat(path).catch(() => null);
    if (found === null) return null;
    const { mtimeMs, size } = found;
    const known = this.#looked.get(path);
    if (known?.mtimeMs === mtimeMs && known.size === size) return known;
    const looked = { mtimeMs, size, from: await firstTimestamp(path), sha256: null };
    this.#looked.set(path, looked);
    return looked;
  }
}

function listedOrNull(location: string): string[] | null {
  try {
    return listUpdateFiles(location);
  } catch {
    return null;
  }
}
