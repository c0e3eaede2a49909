/**
 * Creates a folder and its parents. Node's `recursive` never ends if the system reports for a new folder that its parent is missing, as `/proc` does.
 */

import { existsSync, mkdirSync, readlinkSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** The folder, or one above it, is a link to a place that does not exist, such as a disk that is not mounted. */
export class DanglingLinkError extends Error {
  override readonly name = "DanglingLinkError";
  readonly code = "ENOENT";

  constructor(path: string, target: string) {
    super(`${path} is a link to ${target}, which does not exist`);
  }
}

/**
 * Creates the folder unless it exists. The target of a link is never created: it may be a disk that is not mounted.
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
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return null;
    const target = danglingTarget(path);
    return target === null ? (error as NodeJS.ErrnoException) : new DanglingLinkError(path, target);
  }
  return null;
}

/** @returns null if the path is not a link, or leads somewhere. */
function danglingTarget(path: string): string | null {
  if (existsSync(path)) return null;
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
