/**
 * What was fetched of one source: the newest file, the last one that a run could use, and what there is of one that is still to be fetched.
 *
 *     <downloads>/<source>/state.json    which file is which, with where it came from
 *                          <sha256>      a whole file, as the server sent it
 *                          partial       one that is not whole yet
 *                          partial.json  of which version, and how much of it is safely on the disk
 *                          lock          held while its owner lives
 */

import { createHash } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { replaceText } from "../replace-text.ts";
import { diskError } from "./fetch-error.ts";
import { takeLock } from "./lock.ts";

/** A whole file and where it came from. Times are Unix ms. */
export interface FetchedFile {
  readonly sha256: string;
  readonly bytes: number;
  /** As they may be shown: what was asked for, and where it came from after redirects. */
  readonly url: string;
  readonly finalUrl: string;
  /** Tells whether the validators below are of the URL that is asked for now, which may hold what is not shown. */
  readonly urlDigest: string;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly fetchedAt: number;
  /** When the server last said that this is the newest. */
  readonly checkedAt: number;
}

export interface SourceFiles {
  readonly latest: FetchedFile | null;
  /** What a run last read to its end and published. */
  readonly good: FetchedFile | null;
}

/** A file that is not whole. */
export interface PartialFile {
  readonly urlDigest: string;
  /** Strong: a weak one may stand for bytes that differ. */
  readonly etag: string;
  /** Of the whole file; null where the server did not say. */
  readonly total: number | null;
  /** On the disk for certain; the file may be longer. */
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

  /** Waits until nobody else has the source's folder; a process that was killed has nothing. */
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

  /** Null where the file has less than its note says: a process was killed after it made the file the latest one, and before it removed the note. */
  async partial(urlDigest: string): Promise<PartialFile | null> {
    const partial = await readJson<PartialFile>(join(this.path, "partial.json"));
    if (partial?.urlDigest !== urlDigest || !(partial.bytes > 0)) return null;
    const found = await stat(this.partialPath).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    });
    return found !== null && found.size >= partial.bytes ? partial : null;
  }

  /** To be called when `bytes` of the file are synced. */
  async notePartial(partial: PartialFile): Promise<void> {
    await replaceFile(join(this.path, "partial.json"), partial);
  }

  async dropPartial(): Promise<void> {
    await rm(join(this.path, "partial.json"), { force: true });
    await rm(this.partialPath, { force: true });
  }

  /** Makes the partial file, which is whole and synced by now, the latest one. */
  async keepPartial(file: FetchedFile): Promise<void> {
    await rename(this.partialPath, join(this.path, file.sha256));
    await syncFolder(this.path);
    try {
      await this.#write({ ...(await this.files()), latest: file });
    } catch (error) {
      // A full disk is given its room back.
      await this.removeUnnamed().catch(() => undefined);
      throw error;
    }
    await rm(join(this.path, "partial.json"), { force: true });
  }

  /** The latest file is the newest still. */
  async noteLatest(file: FetchedFile): Promise<void> {
    await this.#write({ ...(await this.files()), latest: file });
  }

  /** A run has read this file to its end, and published what it read. */
  async keepGood(sha256: string): Promise<void> {
    const { latest, good } = await this.files();
    if (latest?.sha256 === sha256 && good?.sha256 !== sha256) await this.#write({ latest, good: latest });
  }

  async #write(files: SourceFiles): Promise<void> {
    await replaceFile(join(this.path, "state.json"), files);
    await this.#removeOthers(files);
  }

  /** Removes whole files that the state does not name: their process ended before it wrote that. */
  async removeUnnamed(): Promise<void> {
    await this.#removeOthers(await this.files());
  }

  async #removeOthers({ latest, good }: SourceFiles): Promise<void> {
    const named = new Set([latest?.sha256, good?.sha256]);
    for (const name of await readdir(this.path))
      if (/^[0-9a-f]{64}$/.test(name) && !named.has(name)) await rm(join(this.path, name), { force: true });
  }
}

/** Notes that a run could use a version; nothing happens where it is not the latest any more. */
export async function noteGood(downloads: string, source: string, sha256: string): Promise<void> {
  const folder = await DownloadFolder.take(downloads, source);
  try {
    await folder.keepGood(sha256);
  } finally {
    folder.release();
  }
}

/** Notes in the time of its folder that the source is in use; one that has none yet needs none. */
export async function noteUse(downloads: string, source: string, now: number): Promise<void> {
  await utimes(join(downloads, source), new Date(now), new Date(now)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}

/**
 * Removes folders of sources that are not listed and were last in use before that time, and notes the use of those that are. Times in Unix ms.
 *
 * @returns the names of the removed ones.
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

/** Without the lock: whole files are replaced, never changed. */
export function readFilesOf(downloads: string, source: string): Promise<SourceFiles> {
  return readFiles(join(downloads, source));
}

export function pathOf(downloads: string, source: string, { sha256 }: FetchedFile): string {
  return join(downloads, source, sha256);
}

export function urlDigestOf(url: string): string {
  return createHash("sha256").update(url).digest("hex");
}

/** A file that is named and is not there counts as none: somebody made room. */
async function readFiles(path: string): Promise<SourceFiles> {
  const files = await readJson<SourceFiles>(join(path, "state.json"));
  if (files === null) return nothing;
  const names = await readdir(path);
  const present = (file: FetchedFile | null) => (file !== null && names.includes(file.sha256) ? file : null);
  return { latest: present(files.latest), good: present(files.good) };
}

/** Null where it is not there or not whole: then it is fetched again. One that cannot be read now is a fault: its files would be deleted. */
async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT" || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Replaces what is told of downloads. @throws FetchError `disk`, with the path */
export async function replaceFile(path: string, content: unknown): Promise<void> {
  await replaceText(path, `${JSON.stringify(content, null, 2)}\n`).catch(({ cause }: Error) => {
    throw diskError(cause, path);
  });
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
