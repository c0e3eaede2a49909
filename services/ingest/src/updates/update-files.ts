/** Files of updates: which there are at a location, and which of them a table needs. */

import { createHash } from "node:crypto";
import { createReadStream, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openContent } from "@netfacts/content";

/** What lies beside the files of collectors, or is not whole yet. */
const notUpdates = /^\.|\.(?:md5|part|tmp)$/;

/**
 * The file at the location; of a folder its files in the ascending order of their names, which is that of their times in the names of all collectors
 * (`updates.20261121.0805.gz`). What is no file, and what is hidden or ends in `.md5`, `.part` or `.tmp`, are passed over.
 *
 * Throws what the file system says.
 */
export function listUpdateFiles(location: string): string[] {
  if (!statSync(location).isDirectory()) return [location];
  return readdirSync(location, { withFileTypes: true })
    .filter((entry) => (entry.isFile() || entry.isSymbolicLink()) && !notUpdates.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .map((name) => join(location, name));
}

/** Unix seconds of the first MRT record (RFC 6396 §2); null for an empty file and one that cannot be read: who reads it tells. Unpacks no more than its beginning. */
export async function firstTimestamp(path: string): Promise<number | null> {
  const head = Buffer.alloc(4);
  let had = 0;
  try {
    for await (const chunk of openContent(path).stream) {
      head.set(chunk.subarray(0, 4 - had), had);
      had += Math.min(chunk.length, 4 - had);
      if (had === 4) return head.readUInt32BE();
    }
  } catch {
    return null;
  }
  return null;
}

/**
 * The files that have what came after the table: the last one that begins no later than it does, and all behind it.
 *
 * @param files  in the order of their times.
 * @param from   Unix seconds of the table's first record.
 */
export async function filesSince(
  files: readonly string[],
  from: number,
  timeOf: (path: string) => Promise<number | null> = firstTimestamp,
): Promise<string[]> {
  for (let at = files.length - 1; at > 0; at--) {
    const begins = await timeOf(files[at] as string);
    if (begins !== null && begins <= from) return files.slice(at);
  }
  return [...files];
}

/** Of a whole file. */
export async function sha256Of(path: string): Promise<string> {
  const digest = createHash("sha256");
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest("hex");
}

/**
 * One digest for several files: of a single one its own SHA-256, else that of the lines of all of them, as `sha256sum FILES | cut -c-64 | sha256sum` has it.
 */
export function digestOfAll(digests: readonly string[]): string {
  const [only] = digests;
  if (only !== undefined && digests.length === 1) return only;
  return createHash("sha256")
    .update(digests.map((digest) => `${digest}\n`).join(""))
    .digest("hex");
}
