/** A lock between processes that ends with its owner, however that ends: the system's own, by way of SQLite, as Node has none. */

import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

const askedEveryMs = 100;

/** Resolves with what frees it, once nobody else holds it. `onWaiting` is called once, when somebody does. @throws Error that names the file. */
export async function takeLock(path: string, signal?: AbortSignal, onWaiting: () => void = () => undefined): Promise<() => void> {
  const database = openLock(path);
  try {
    for (let waits = 0; ; waits++) {
      signal?.throwIfAborted();
      if (tryLock(database, path)) return () => database.close();
      if (waits === 0) onWaiting();
      await sleep(askedEveryMs, undefined, signal === undefined ? {} : { signal });
    }
  } catch (error) {
    database.close();
    throw error;
  }
}

function openLock(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 });
  } catch (error) {
    throw lockError(path, error);
  }
}

function tryLock(database: DatabaseSync, path: string): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    // SQLITE_BUSY
    if ((error as { errcode?: number }).errcode === 5) return false;
    throw lockError(path, error);
  }
}

/** SQLite names neither the file nor what to do. */
function lockError(path: string, error: unknown): Error {
  const reason = Error.isError(error) ? error.message : String(error);
  return new Error(`the lock ${path} cannot be acquired: ${reason}; check that its folder is writable and its disk is not full`, {
    cause: error,
  });
}
