/** Files and folders that several test files of a run need: the first that asks makes them. */

import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { runFolderVariable } from "./run-folder.ts";
import { withLock } from "./tool-cache.ts";

/**
 * @param name  of the file or folder, in the folder of the run.
 * @param own  where it is made outside a run.
 * @param make  makes it at the path. It is seen by others only when it is complete.
 * @returns its path. It is shared: only read it.
 */
export async function madeOnce(name: string, own: string, make: (path: string) => Promise<unknown>): Promise<string> {
  const run = process.env[runFolderVariable];
  if (run === undefined) {
    await make(own);
    return own;
  }
  const path = join(run, name);
  await withLock(`${path}.lock`, async () => {
    if (existsSync(path)) return;
    await make(`${path}.part`);
    await rename(`${path}.part`, path);
  });
  return path;
}
