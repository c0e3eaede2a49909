/** A lock between processes that ends with its owner, however that ends: the system's own, by way of SQLite, as Node has none. */

import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

const askedEveryMs = 100;

/** Resolves with what frees it, once nobody else holds it. `onWaiting` is called once, when somebody does. */
export async function takeLock(path: string, signal?: AbortSignal, onWaiting: () => void = () => undefined): Promise<() => void> {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    for (let waits = 0; ; waits++) {
      signal?.throwIfAborted();
      if (tryLock(database)) return () => database.close();
      if (waits === 0) onWaiting();
      await sleep(askedEveryMs, undefined, signal === undefined ? {} : { signal });
    }
  } catch (error) {
    database.close();
    throw error;
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    // SQLITE_BUSY
    if ((error as { errcode?: number }).errcode === 5) return false;
    throw error;
  }
}
