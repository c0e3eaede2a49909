/**
 * The downloads of one source: the newest file, the last good one that a run could use, and a partial file of the next one.
 *
 *     <downloads>/<source>/state.json    which file is which, with where it came from
 *                          <sha256>      a whole file, as the server sent it
 *                          partial       a file that is not whole yet
 *                          partial.json  its version, and how much of it is safely on the disk
 *                          lock          held while its owner lives
 */

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "@netfacts/storage";
import { replaceText } from "../replace-text.ts";
import { diskError } from "./fetch-error.ts";
import { takeLock } from "./lock.ts";

/** A whole file and its origin. Times are Unix ms. */
export interface FetchedFile {
  readonly sha256: string;
  readonly bytes: number;
  /** URLs without secrets: the one that was requested, and the one after redirects. */
  readonly url: string;
  readonly finalUrl: string;
  /** Digest of the full URL, which may hold secrets: the validators below apply only to the same URL. */
  readonly urlDigest: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly fetchedAt: number;
  /** When the server last confirmed that this is the newest file. */
  readonly checkedAt: number;
}

export interface SourceFiles {
  readonly latest: FetchedFile | null;
  /** The last file that a run read to its end and published. */
  readonly good: FetchedFile | null;
}

/** A file that is not whole. */
export interface PartialFile {
  readonly urlDigest: string;
  /** A strong entity tag: the same weak one may stand for different bytes. */
  readonly etag: string;
  /** Bytes of the whole file; null: the server did not say. */
  readonly total: number | null;
  /** Bytes that are certainly on the disk; the file may be longer. */
  readonly bytes: number;
}

const nothing: SourceFiles = { latest: null, good: null };

export class DownloadFolder {
  readonly path: string;
  readonly #release: () => void;

  private constructor(path: string, release: () => void) {
    this.path = path;
    this.#release = release;
  }

  /** Waits until no other process holds the source's folder. A killed process does not hold it. */
  static async take(downloads: string, source: string, signal?: AbortSignal): Promise<DownloadFolder> {
    const path = join(downloads, source);
    await mkdir(path, { recursive: true });
    return new DownloadFolder(path, await takeLock(join(path, "lock"), signal));
  }

  release(): void {
    this.#release();
  }

  get partialPath(): string {
    return join(this.path, "partial");
  }

  files(): Promise<SourceFiles> {
    return readFiles(this.path);
  }

  /**
   * Null also if the file is shorter than its note says: a process was killed after it made the file the latest one, and before it removed the note.
   */
  async partial(urlDigest: string): Promise<PartialFile | null> {
    const partial = await readJson<PartialFile>(join(this.path, "partial.json"));
    if (partial?.urlDigest !== urlDigest || !(partial.bytes > 0)) return null;
    const found = await stat(this.partialPath).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    });
    return found !== null && found.size >= partial.bytes ? partial : null;
  }

  /** Call it when `bytes` of the file are synced. */
  async notePartial(partial: PartialFile): Promise<void> {
    await replaceFile(join(this.path, "partial.json"), partial);
  }

  async dropPartial(): Promise<void> {
    await rm(join(this.path, "partial.json"), { force: true });
    await rm(this.partialPath, { force: true });
  }

  /** Makes the partial file the latest one. It must be whole and synced. */
  async keepPartial(file: FetchedFile): Promise<void> {
    await rename(this.partialPath, join(this.path, file.sha256));
    await syncFolder(this.path);
    try {
      await this.#write({ ...(await this.files()), latest: file });
    } catch (error) {
      // Frees the space on a full disk.
      await this.removeUnnamed().catch(() => undefined);
      throw error;
    }
    await rm(join(this.path, "partial.json"), { force: true });
  }

  /** Notes that the latest file is still the newest. */
  async noteLatest(file: FetchedFile): Promise<void> {
    await this.#write({ ...(await this.files()), latest: file });
  }

  /** Notes that a run has read this file to its end, and published what it read. */
  async keepGood(sha256: string): Promise<void> {
    const { latest, good } = await this.files();
    if (latest?.sha256 === sha256 && good?.sha256 !== sha256) await this.#write({ latest, good: latest });
  }

  async #write(files: SourceFiles): Promise<void> {
    await replaceFile(join(this.path, "state.json"), files);
    await this.#removeOthers(files);
  }

  /** Removes whole files that the state does not name: the process that fetched them ended before it wrote the state. */
  async removeUnnamed(): Promise<void> {
    await this.#removeOthers(await this.files());
  }

  async #removeOthers({ latest, good }: SourceFiles): Promise<void> {
    const named = new Set([latest?.sha256, good?.sha256]);
    for (const name of await readdir(this.path))
      if (/^[0-9a-f]{64}$/.test(name) && !named.has(name)) await rm(join(this.path, name), { force: true });
  }
}

/** Notes that a run could use a version; does nothing if it is no longer the latest. */
export async function noteGood(downloads: string, source: string, sha256: string): Promise<void> {
  const folder = await DownloadFolder.take(downloads, source);
  try {
    await folder.keepGood(sha256);
  } finally {
    folder.release();
  }
}

/** Notes the use of the source in the time of its folder; does nothing if there is no folder. */
export async function noteUse(downloads: string, source: string, now: number): Promise<void> {
  await utimes(join(downloads, source), new Date(now), new Date(now)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

/**
 * Removes the folders of sources that are not listed and were last used before that time; notes the use of listed ones. Times in Unix ms.
 *
 * @returns the names of the removed sources.
 */
export async function removeUnlisted(
  downloads: string,
  listed: ReadonlySet<string>,
  { now, before }: { now: number; before: number },
): Promise<string[]> {
  const removed: string[] = [];
  const folders = await readdir(downloads, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  for (const { name } of folders.filter((entry) => entry.isDirectory())) {
    const path = join(downloads, name);
    if (listed.has(name)) {
      await noteUse(downloads, name, now);
      continue;
    }
    if ((await stat(path)).mtimeMs >= before) continue;
    await rm(path, { recursive: true, force: true });
    removed.push(name);
  }
  return removed;
}

/** Reads without the lock: whole files are replaced, never changed. */
export function readFilesOf(downloads: string, source: string): Promise<SourceFiles> {
  return readFiles(join(downloads, source));
}

export function pathOf(downloads: string, source: string, { sha256 }: FetchedFile): string {
  return join(downloads, source, sha256);
}

export function urlDigestOf(url: string): string {
  return createHash("sha256").update(url).digest("hex");
}

/** A file that the state names and that does not exist counts as none: somebody freed space. */
async function readFiles(path: string): Promise<SourceFiles> {
  const files = await readJson<SourceFiles>(join(path, "state.json"));
  if (files === null) return nothing;
  const names = await readdir(path);
  const present = (file: FetchedFile | null) => (file !== null && names.includes(file.sha256) ? file : null);
  return { latest: present(files.latest), good: present(files.good) };
}

/**
 * Null if the file does not exist or is not whole: its data are then fetched again. A file that cannot be read now is a fault, as its data would be
 * deleted.
 */
async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Replaces a file of state. @throws FetchError `disk`, with the path */
export async function replaceFile(path: string, content: unknown): Promise<void> {
  await replaceText(path, `${JSON.stringify(content, null, 2)}\n`).catch(({ cause }: Error) => {
    throw diskError(cause, path);
  });
}
