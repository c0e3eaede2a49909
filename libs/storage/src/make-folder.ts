/** A folder with those above it. Node's own way (`recursive`) never ends where the system says of a new folder that its parent is missing, as `/proc` does. */

import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes the folder unless it is there.
 *
 * @param mode  of each that is made.
 * @throws the system's error where it cannot be made, or is something else than a folder.
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
