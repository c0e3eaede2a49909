/** Files of updates: the files at a location, and those that a table needs. */

import { createHash } from "node:crypto";
import { createReadStream, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openContent } from "@netfacts/content";

/** Names of files that collectors add to theirs, or that are not whole yet. */
const notUpdates = /^\.|\.(?:md5|part|tmp)$/;

/**
 * The file at the location. For a folder, its files in ascending order of their names, which for all collectors is the order of their times
 * (`updates.20261121.0805.gz`). Entries that are not files, are hidden, or end in `.md5`, `.part` or `.tmp`, are ignored.
 *
 * @throws the errors of the file system.
 */
export function listUpdateFiles(location: string): string[] {
  if (!statSync(location).isDirectory()) return [location];
  return readdirSync(location, { withFileTypes: true })
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && !notUpdates.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .map((name) => join(location, name));
}

/** The highest type of an MRT record (OSPFv3_ET). */
const typeMax = 49;

/**
 * Unix seconds of the first MRT record (RFC 6396 §2). Null for an empty file, one of another format, and one that cannot be read, which its reader
 * reports. Decompresses only the beginning.
 */
export async function firstTimestamp(path: string): Promise<number | null> {
  const head = Buffer.alloc(6);
  let had = 0;
  try {
    for await (const chunk of openContent(path).stream) {
      head.set(chunk.subarray(0, head.length - had), had);
      had += Math.min(chunk.length, head.length - had);
      if (had === head.length) return head.readUInt16BE(4) > typeMax ? null : head.readUInt32BE();
    }
  } catch {
    return null;
  }
  return null;
}

/** Number of files before a file that show whether its own time is wrong. */
const comparedFiles = 4;

/**
 * The files with updates after the table: the last one that begins no later than the table, and all files after it. A file that begins before most of
 * those before it has a wrong time or a wrong name: it is not that last one, and its reader refuses it.
 *
 * @param files  in the order of their times.
 * @param from  Unix seconds of the table's first record.
 */
export async function filesSince(
  files: readonly string[],
  from: number,
  timeOf: (path: string) => Promise<number | null> = firstTimestamp,
): Promise<string[]> {
  const begins = new Map<number, number | null>();
  const beginOf = async (at: number) => {
    if (!begins.has(at)) begins.set(at, await timeOf(files[at] as string));
    return begins.get(at) ?? null;
  };
  const isInOrder = async (at: number, begin: number) => {
    let [later, known] = [0, 0];
    for (let before = Math.max(0, at - comparedFiles); before < at; before++) {
      const other = await beginOf(before);
      if (other === null) continue;
      known++;
      if (other > begin) later++;
    }
    return later * 2 <= known;
  };
  for (let at = files.length - 1; at > 0; at--) {
    const begin = await beginOf(at);
    if (begin !== null && begin <= from && (await isInOrder(at, begin))) return files.slice(at);
  }
  return [...files];
}

/** The digest of a whole file. Rejects when `signal` is aborted. */
export async function sha256Of(path: string, signal?: AbortSignal): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(path, { signal })) digest.update(chunk as Buffer);
  return digest.digest("hex");
}

/**
 * One digest for several files. For a single file its own SHA-256; otherwise that of a list of all, like `sha256sum FILES | cut -c-64 | sha256sum`.
 */
export function digestOfAll(digests: readonly string[]): string {
  const [only] = digests;
  if (only !== undefined && digests.length === 1) return only;
  return createHash("sha256")
    .update(digests.map((digest) => `${digest}\n`).join(""))
    .digest("hex");
}
