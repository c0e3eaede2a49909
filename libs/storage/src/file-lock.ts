/** A lock between processes that ends with its owner, however that ends: the system's own, by way of SQLite, as Node has none. */

import { DatabaseSync } from "node:sqlite";

/** The collection of a connection that nobody refers to would end its lock. */
const held = new Set<DatabaseSync>();

/**
 * Takes the lock that the file stands for; the file is made when missing, and stays empty. It holds between containers that share the folder, and
 * between threads of a process. No other code of the process may open the file: closing it would end the lock.
 *
 * @param timeoutMs  waited for, with the event loop, while others have the lock. With 0, two that try at the same time may both fail.
 * @returns what releases it; null: somebody has it.
 * @throws Error that names the file.
 */
export function tryFileLock(path: string, timeoutMs = 0): (() => void) | null {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path, { timeout: timeoutMs });
    const lock = database;
    // Without a journal on the disk, which would not fit a full one, and which a killed process would leave.
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

/** SQLite names neither the file nor what to do. */
function lockError(path: string, error: unknown): Error {
  const reason = Error.isError(error) ? error.message : String(error);
  return new Error(`the lock ${path} cannot be acquired: ${reason}; check that its folder is writable and its disk is not full`, {
    cause: error,
  });
}
