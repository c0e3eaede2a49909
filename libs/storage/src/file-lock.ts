/** A lock between processes that ends with its owner, however the owner ends: the lock of the system, taken through SQLite, as Node has none. */

import { DatabaseSync } from "node:sqlite";

/** Keeps the connections referenced: if one were garbage-collected, its lock would end. */
const held = new Set<DatabaseSync>();

/**
 * Takes the lock that the file represents. A missing file is created; it stays empty. The lock holds between containers that share the folder, and
 * between threads of a process. No other code of the process may open the file: closing it would end the lock.
 *
 * @param timeoutMs  longest wait while others have the lock; blocks the event loop. With 0, two that try at the same time may both fail.
 * @returns a function that releases it; null: somebody else has it.
 * @throws Error that names the file.
 */
export function tryFileLock(path: string, timeoutMs = 0): (() => void) | null {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { timeout: timeoutMs });
    const lock = database;
    // Without a journal on disk: it would not fit on a full disk, and a killed process would leave it behind.
    lock.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    held.add(lock);
    return () => {
      held.delete(lock);
      lock.close();
    };
  } catch (error) {
    database?.close();
    // SQLITE_BUSY
    if ((error as { errcode?: number }).errcode === 5) return null;
    throw lockError(path, error);
  }
}

/** Adds the file and what to do: SQLite names neither. */
function lockError(path: string, error: unknown): Error {
  const reason = Error.isError(error) ? error.message : String(error);
  return new Error(`the lock ${path} cannot be acquired: ${reason}; check that its folder is writable and its disk is not full`, {
    cause: error,
  });
}
