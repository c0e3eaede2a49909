/** The state folder and its owner, one process at a time. */

import { accessSync, closeSync, constants, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  DanglingLinkError,
  type FolderOwner,
  isDiskFull,
  isNotWritable,
  makeFolder,
  ownerFile,
  ownerLock,
  readOwner,
  tryFileLock,
} from "@netfacts/storage";

/** Longest wait for the lock: of two concurrent starts, one gets it within this time. */
const lockWaitMs = 500;

/** Another process owns the folder. */
export class HomeTakenError extends Error {
  override readonly name = "HomeTakenError";

  /** @param owner  null: it has not written its data yet. */
  constructor(folder: string, owner: FolderOwner | null) {
    const who = owner === null ? "another process" : `process ${owner.pid} (${owner.url})`;
    super(`${folder} is in use by ${who}; stop it, or choose another folder with NETFACTS_HOME=`);
  }
}

/** The folder cannot be made or written. */
class HomeError extends Error {
  override readonly name = "HomeError";
  /** Code of the system's error. */
  readonly code: string | undefined;

  constructor(folder: string, cause: NodeJS.ErrnoException) {
    const fault = cause instanceof DanglingLinkError ? cause.message : `${folder} ${homeFault(cause)}`;
    // Another folder has none of the keys and data that may be in this one.
    const remedy = isDiskFull(cause.code) ? "free some space on it, or choose" : "choose";
    super(`${fault}; ${remedy} another folder with NETFACTS_HOME=`);
    this.code = cause.code;
  }
}

function homeFault({ code, message }: NodeJS.ErrnoException): string {
  if (code === "EEXIST" || code === "ENOTDIR") return "is a file, or is inside one";
  if (code === "ENOENT") return "cannot be created";
  if (code === "EISDIR") return "is a folder, not a file";
  if (isNotWritable(code)) return "is not writable for this user";
  if (isDiskFull(code)) return "is on a full disk";
  return `cannot be used (${message})`;
}

/** A file in the folder cannot be used. */
class HomeFileError extends Error {
  override readonly name = "HomeFileError";

  constructor(path: string, cause: NodeJS.ErrnoException) {
    const fault = isNotWritable(cause.code) ? "cannot be read or written by this user" : homeFault(cause);
    super(`${path} ${fault}; correct that, or choose another folder with NETFACTS_HOME=`);
  }
}

/** For a system error about a file in the folder, an error that names the file and the remedy; any other error unchanged. */
export function inHome(folder: string, error: unknown): unknown {
  const { path } = error as NodeJS.ErrnoException;
  return Error.isError(error) && typeof path === "string" && path.startsWith(join(folder, "/"))
    ? new HomeFileError(path, error as NodeJS.ErrnoException)
    : error;
}

/** Ownership of a folder. */
export interface Home {
  readonly folder: string;
  /** Writes the URL of this process, for messages of others. @param follows  path of the sources.yaml that it imports by itself; null: none. */
  answersAt(url: string, follows?: string | null): void;
  release(): void;
}

/**
 * Takes the folder for this process, and makes it if it is missing. The lock is the system's: it ends with the process in any case, and works
 * between containers that share the folder. The state of a crashed owner is taken over.
 *
 * Throws `HomeTakenError` if a running process owns it, `HomeError` if it cannot be written.
 */
export function takeHome(folder: string, url: string): Home {
  try {
    return take(folder, url);
  } catch (error) {
    throw error instanceof HomeTakenError ? error : new HomeError(folder, error as NodeJS.ErrnoException);
  }
}

function take(folder: string, url: string): Home {
  // The log and the store have the addresses and requests of clients.
  makeFolder(folder, 0o700);
  const path = join(folder, ownerFile);
  const unlock = lock(join(folder, ownerLock));
  if (unlock === null) throw new HomeTakenError(folder, readOwner(folder));
  // The file of a crashed owner must not appear in messages.
  rmSync(path, { force: true });
  const answersAt = (answering: string, follows: string | null = null): void => {
    const next = `${path}.next`;
    writeFileSync(next, `${JSON.stringify({ pid: process.pid, url: answering, follows } satisfies FolderOwner)}\n`);
    renameSync(next, path);
  };
  try {
    answersAt(url);
  } catch (error) {
    unlock();
    throw error;
  }
  return {
    folder,
    answersAt,
    release: () => {
      if (readOwner(folder)?.pid === process.pid) rmSync(path, { force: true });
      unlock();
    },
  };
}

/** The lock file is never removed: a process that waits for the lock of a removed file would not conflict with one that makes a new file. */
function lock(path: string): (() => void) | null {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // Check access here: SQLite has no error code for this, and opens a file that it may only read.
    accessSync(path, constants.R_OK | constants.W_OK);
  }
  return tryFileLock(path, lockWaitMs);
}
