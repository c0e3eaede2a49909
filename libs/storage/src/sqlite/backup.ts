/** Copies of the store's file, and of that of uploaded observations: taken while it is in use, and put back while it is not. */

import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { StoreError, type StoreFault } from "../store-error.ts";
import { SqliteConnection } from "./connection.ts";
import { checkIsStore } from "./migrations.ts";
import { checkIsObservations } from "./sqlite-observations.ts";

/**
 * Writes a whole and checked copy, of one moment, while other processes go on to write. Only its owner may read it.
 *
 * @param target  a file that is not there yet, in a folder that is.
 * @throws StoreError; then there is no copy.
 */
export function backUpSqliteStore(path: string, target: string): void {
  backUp(path, target, checkIsStore);
}

/** The same for the file of uploaded observations, also during an upload: the copy has the rows and the progress of one moment. */
export function backUpSqliteObservations(path: string, target: string): void {
  backUp(path, target, checkIsObservations);
}

/** @throws StoreError for a file of another kind, or of a later version. */
type CheckKind = (connection: SqliteConnection) => void;

function backUp(path: string, target: string, checkKind: CheckKind): void {
  const source = openExisting(path);
  try {
    checkKind(source);
    makeEmpty(target);
    try {
      source.run("VACUUM INTO ?", target);
      checkWhole(target, checkKind);
      syncFile(target);
      syncFolder(target);
    } catch (error) {
      rmSync(target, { force: true });
      throw error;
    }
  } finally {
    source.close();
  }
}

/**
 * Puts a copy in the place of the store, whose file is kept under another name. No other process may have the store open: one that has it
 * makes this fail, and nothing is changed.
 *
 * @returns the path of the file that was replaced; null where there was none.
 * @throws StoreError
 */
export function restoreSqliteStore(copy: string, path: string, now: number): string | null {
  return restore(copy, path, { now, checkKind: checkIsStore });
}

/** The same for the file of uploaded observations. */
export function restoreSqliteObservations(copy: string, path: string, now: number): string | null {
  return restore(copy, path, { now, checkKind: checkIsObservations });
}

function restore(copy: string, path: string, { now, checkKind }: { readonly now: number; readonly checkKind: CheckKind }): string | null {
  checkCopy(copy, checkKind);
  const incoming = `${path}.restoring`;
  rmSync(incoming, { force: true });
  makeEmpty(incoming);
  try {
    copyFileSync(copy, incoming);
    syncFile(incoming);
    const replaced = existsSync(path) ? `${path}.replaced-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "")}` : null;
    if (replaced !== null) {
      closeForGood(path);
      // Not over what was put aside a moment ago.
      makeEmpty(replaced);
      renameSync(path, replaced);
    }
    // SQLite would replay into the copy what a store that is lost or damaged left there: nothing in a log tells which file it is of.
    for (const rest of ["-wal", "-shm"]) rmSync(`${path}${rest}`, { force: true });
    renameSync(incoming, path);
    syncFolder(path);
    return replaced;
  } catch (error) {
    rmSync(incoming, { force: true });
    throw error instanceof StoreError ? error : fileError(path, error);
  }
}

/** @throws StoreError unless it is an undamaged store that this program knows. */
function checkWhole(path: string, checkKind: CheckKind): void {
  const connection = openExisting(path);
  try {
    checkKind(connection);
    const check = connection.get("PRAGMA quick_check(1)")?.quick_check;
    if (check !== "ok") throw new StoreError("damaged", path, String(check));
  } finally {
    connection.close();
  }
}

/** As `checkWhole`; what to do about a damaged store is no advice about a damaged copy. */
function checkCopy(path: string, checkKind: CheckKind): void {
  try {
    checkWhole(path, checkKind);
  } catch (error) {
    if (!(error instanceof StoreError) || error.fault !== "damaged") throw error;
    throw new StoreError("damaged", path, error.explanation, error, "nothing was changed; restore another copy");
  }
}

function openExisting(path: string): SqliteConnection {
  // SQLite would make an empty one.
  if (!existsSync(path)) throw new StoreError("unavailable", path, "does not exist");
  return new SqliteConnection(path);
}

/** Leaves the write-ahead log, which only the last connection can: nothing of the store is then in another file. */
function closeForGood(path: string): void {
  const connection = openExisting(path);
  try {
    connection.exec("PRAGMA journal_mode = DELETE");
  } catch (cause) {
    // One that is damaged is what a copy is for.
    if (!(cause instanceof StoreError) || cause.fault !== "damaged") throw cause;
  } finally {
    connection.close();
  }
}

function makeEmpty(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    throw fileError(path, cause);
  }
}

function syncFile(path: string): void {
  sync(path, "r+");
}

/** Of a file: its name is safe only then. */
function syncFolder(path: string): void {
  sync(dirname(path), "r");
}

function sync(path: string, flags: "r" | "r+"): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function fileError(path: string, cause: unknown): StoreError {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === "EEXIST") return new StoreError("unavailable", path, "already exists", cause, "choose another path, or remove it first");
  const fault: StoreFault =
    code === "EROFS" || code === "EACCES" || code === "EPERM" ? "readonly" : code === "ENOSPC" ? "full" : "unavailable";
  return new StoreError(fault, path, message, cause);
}
