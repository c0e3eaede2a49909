/** The state folder and its one owner. */

import { accessSync, closeSync, constants, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDiskFull, isNotWritable, makeFolder, tryFileLock } from "@netfacts/storage";

/** Who holds the folder, as it says itself: for messages. In a container, the number is that of its own. */
export interface Owner {
  readonly pid: number;
  readonly url: string;
}

/** Two starts at the same time: one of them has the lock within this. */
const lockWaitMs = 500;

/** Another process holds the folder. */
export class HomeTakenError extends Error {
  override readonly name = "HomeTakenError";

  /** @param owner  null: it has not said who it is yet. */
  constructor(folder: string, owner: Owner | null) {
    const who = owner === null ? "another process" : `process ${owner.pid} (${owner.url})`;
    super(`${folder} is in use by ${who}; stop it, or choose another folder with NETFACTS_HOME=`);
  }
}

/** The folder cannot be made or written. */
export class HomeError extends Error {
  override readonly name = "HomeError";
  /** Of the system's error. */
  readonly code: string | undefined;

  constructor(folder: string, cause: NodeJS.ErrnoException) {
    super(`${folder} ${homeFault(cause)}; choose another folder with NETFACTS_HOME=`);
    this.code = cause.code;
  }
}

function homeFault({ code, message }: NodeJS.ErrnoException): string {
  if (code === "EEXIST" || code === "ENOTDIR") return "is a file, or is inside one";
  if (code === "ENOENT") return "cannot be created";
  if (isNotWritable(code)) return "is not writable for this user";
  if (isDiskFull(code)) return "is on a full disk";
  return `cannot be used (${message})`;
}

/** The hold on a folder. */
export interface Home {
  readonly folder: string;
  /** Tells a second instance where this one answers. */
  answersAt(url: string): void;
  release(): void;
}

/**
 * Takes the folder for this process; it is made when missing. The system holds the lock, so that it ends with the process however that ends, and
 * holds between containers that share the folder. What a crashed owner left is taken over.
 *
 * Throws `HomeTakenError` when a living process holds it, `HomeError` when it cannot be written.
 */
export function takeHome(folder: string, url: string): Home {
  try {
    return take(folder, url);
  } catch (error) {
    throw error instanceof HomeTakenError ? error : new HomeError(folder, error as NodeJS.ErrnoException);
  }
}

function take(folder: string, url: string): Home {
  // The log and the store name clients and what they asked.
  makeFolder(folder, 0o700);
  const path = join(folder, "owner.json");
  const unlock = lock(join(folder, "owner.lock"));
  if (unlock === null) throw new HomeTakenError(folder, readOwner(path));
  // Of an owner that crashed: nobody is to be told of it.
  rmSync(path, { force: true });
  const answersAt = (answering: string): void => {
    const next = `${path}.next`;
    writeFileSync(next, `${JSON.stringify({ pid: process.pid, url: answering } satisfies Owner)}\n`);
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
      if (readOwner(path)?.pid === process.pid) rmSync(path, { force: true });
      unlock();
    },
  };
}

/** The file stays: whoever waits for the lock of a removed one would not meet whoever makes another. */
function lock(path: string): (() => void) | null {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    // SQLite has no code for what is wrong, and reads what it may not write.
    accessSync(path, constants.R_OK | constants.W_OK);
  }
  return tryFileLock(path, lockWaitMs);
}

function readOwner(path: string): Owner | null {
  try {
    const owner = JSON.parse(readFileSync(path, "utf8")) as Partial<Owner> | null;
    return typeof owner?.pid === "number" && typeof owner.url === "string" ? { pid: owner.pid, url: owner.url } : null;
  } catch {
    return null;
  }
}
