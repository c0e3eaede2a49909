/** The state folder and its one owner. */

import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "@netfacts/storage";

/** Who holds the folder. */
export interface Owner {
  readonly pid: number;
  /** Tells this process from a later one with the same number; null where the system does not tell. */
  readonly started: string | null;
  readonly url: string;
}

/** Another process holds the folder. */
export class HomeTakenError extends Error {
  override readonly name = "HomeTakenError";
  readonly owner: Owner;

  constructor(folder: string, owner: Owner) {
    super(`${folder} is in use by process ${owner.pid} (${owner.url}); stop it, or choose another folder with NETFACTS_HOME=`);
    this.owner = owner;
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
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "is not writable for this user";
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG") return "is on a full disk";
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
 * Takes the folder for this process; it is made when missing. What a crashed owner left is taken over.
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
  const mine: Owner = { pid: process.pid, started: startOf(process.pid), url };
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(path, `${JSON.stringify(mine)}\n`, { flag: "wx" });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || attempt > 8) throw error;
    }
    const owner = readOwner(path);
    if (owner !== null && isAlive(owner)) throw new HomeTakenError(folder, owner);
    // Renamed first, so that of two starters only one removes it.
    const stale = `${path}.${process.pid}.stale`;
    try {
      renameSync(path, stale);
      rmSync(stale);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  return {
    folder,
    answersAt: (answering) => {
      const next = `${path}.${process.pid}.next`;
      writeFileSync(next, `${JSON.stringify({ ...mine, url: answering })}\n`);
      renameSync(next, path);
    },
    release: () => {
      if (readOwner(path)?.pid === process.pid) rmSync(path, { force: true });
    },
  };
}

function readOwner(path: string): Owner | null {
  try {
    const owner = JSON.parse(readFileSync(path, "utf8")) as Partial<Owner> | null;
    return typeof owner?.pid === "number" && typeof owner.url === "string"
      ? { pid: owner.pid, started: owner.started ?? null, url: owner.url }
      : null;
  } catch {
    return null;
  }
}

function isAlive({ pid, started }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const now = startOf(pid);
  return started === null || now === null || started === now;
}

/** When a process started, in ticks since boot; Linux only. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}
