/** Which process owns a state folder. The owner holds the lock and writes the file beside it. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { tryFileLock } from "./file-lock.ts";

export const ownerFile = "owner.json";
export const ownerLock = "owner.lock";

/** The owner of the folder by its own report, for messages. In a container, `pid` is a number of that container. */
export interface FolderOwner {
  readonly pid: number;
  readonly url: string;
  /** Absolute path of the sources.yaml that it imports at the intervals of the list; null: it imports nothing by itself. */
  readonly follows: string | null;
}

/** @returns null: no owner has written its data yet. The data of a crashed owner stay until the next one starts. */
export function readOwner(folder: string): FolderOwner | null {
  try {
    const { pid, url, follows } = JSON.parse(readFileSync(join(folder, ownerFile), "utf8")) as Partial<FolderOwner>;
    return typeof pid === "number" && typeof url === "string" ? { pid, url, follows: typeof follows === "string" ? follows : null } : null;
  } catch {
    return null;
  }
}

/**
 * Must not be called by the owner itself: it would lose its lock.
 *
 * @returns null: none runs, or the lock cannot be tried.
 */
export function runningOwner(folder: string): FolderOwner | null {
  const lock = join(folder, ownerLock);
  const owner = existsSync(lock) ? readOwner(folder) : null;
  if (owner === null) return null;
  try {
    const unlock = tryFileLock(lock);
    unlock?.();
    return unlock === null ? owner : null;
  } catch {
    return null;
  }
}
