/** Replaces a folder of built files by a new one. */

import { chmod, rename, rm } from "node:fs/promises";

/** Another process may do the same at the same time: the files of both are right. */
export async function replaceFolder(work: string, place: string): Promise<void> {
  await chmod(work, 0o755);
  const old = `${work}.old`;
  await rename(place, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await rename(work, place).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
  });
  for (const path of [old, work]) await rm(path, { recursive: true, force: true });
}
