/**
 * Creates a folder and its parents. Node's `recursive` never ends if the system reports for a new folder that its parent is missing, as `/proc` does.
 */

import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates the folder unless it exists.
 *
 * @param mode  of each folder that is created.
 * @throws the system's error if it cannot be created, or is not a folder.
 */
export function makeFolder(path: string, mode = 0o777): void {
  const fault = makeOne(path, mode);
  if (fault === null) return;
  const parent = dirname(path);
  if (fault.code !== "ENOENT" || parent === path || existsSync(parent)) throw fault;
  makeFolder(parent, mode);
  const again = makeOne(path, mode);
  if (again !== null) throw again;
}

function makeOne(path: string, mode: number): NodeJS.ErrnoException | null {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return error as NodeJS.ErrnoException;
  }
  return null;
}
