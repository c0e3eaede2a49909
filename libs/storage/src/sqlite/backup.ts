/** Copies of the files of the store and of uploaded observations: made while they are in use, and restored while they are not. */

import { accessSync, closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { tryFileLock } from "../file-lock.ts";
import { makeFolder } from "../make-folder.ts";
import { replacedEnding } from "../replaced-name.ts";
import { fileError, isNotWritable, StoreError } from "../store-error.ts";
import { SqliteConnection } from "./connection.ts";
import { checkIsStore } from "./migrations.ts";
import { incomingOf } from "./own-file.ts";
import { checkIsObservations } from "./sqlite-observations.ts";

/**
 * Writes a complete and checked copy of one moment, while other processes go on writing. Only its owner may read it.
 *
 * @param target  a file that does not exist yet, in an existing folder.
 * @throws StoreError; then there is no copy.
 */
export function backUpSqliteStore(path: string, target: string): void {
  backUp(path, target, checkIsStore);
}

/** As `backUpSqliteStore`, for the file of uploaded observations, also during an upload: the copy has the rows and the progress of one moment. */
export function backUpSqliteObservations(path: string, target: string): void {
  backUp(path, target, checkIsObservations);
}

/** File whose lock a restore holds, beside the store. */
const restoreLock = "restore.lock";

/** SQLITE_IOERR_WRITE (sqlite.org/rescode.html). */
const ioErrorAtWriting = 778;

/** @throws StoreError for a file of another kind, or of a later version. */
type CheckKind = (connection: SqliteConnection) => void;

function backUp(path: string, target: string, checkKind: CheckKind): void {
  const source = openExisting(path);
  try {
    checkReadable(source, checkKind);
    makeEmpty(target);
    try {
      vacuumInto(source, target);
      checkWhole(target, checkKind);
      syncFile(target);
      syncFolder(target);
    } catch (error) {
      for (const rest of ["", "-journal"]) rmSync(`${target}${rest}`, { force: true });
      throw error;
    }
  } finally {
    source.close();
  }
}

/** As `checkKind`. SQLite makes files beside a store to read it, and says only "unable to open" in a folder where it cannot. */
function checkReadable(source: SqliteConnection, checkKind: CheckKind): void {
  try {
    checkKind(source);
  } catch (error) {
    const folder = dirname(source.path);
    if (!(error instanceof StoreError) || (error.fault !== "unavailable" && error.fault !== "readonly") || isFolderWritable(folder))
      throw error;
    const remedy = "copy the whole folder to where this user may write, and back that copy up";
    throw new StoreError("readonly", source.path, `cannot be read, because ${folder} is not writable by this user`, error, remedy);
  }
}

function isFolderWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch (error) {
    return !isNotWritable((error as NodeJS.ErrnoException).code);
  }
}

function vacuumInto(source: SqliteConnection, target: string): void {
  try {
    source.run("VACUUM INTO ?", target);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // Only the copy is written to, so these errors are about it.
    const isAtWriting = error.fault === "full" || (error.cause as { errcode?: unknown } | undefined)?.errcode === ioErrorAtWriting;
    throw isAtWriting ? new StoreError(error.fault, target, error.explanation, error.cause) : error;
  }
}

/** A copy, and the file that it replaces. */
export interface SqliteCopy {
  readonly copy: string;
  readonly path: string;
}

/** Paths under which the replaced files are kept; null: there was none. */
export interface SqliteRestored {
  readonly replaced: string | null;
  readonly replacedObservations: string | null;
}

/**
 * Replaces the store and the uploaded observations with copies: both, or neither. The earlier files are kept under other names. No other process may
 * have the store open: otherwise this fails, and nothing is changed. A missing folder of the store is created. If this process is killed before both
 * files are in place, the store cannot be opened until it is restored again.
 *
 * @param observations  null: they stay unchanged.
 * @throws StoreError; then neither file is changed, unless the message says that this could not be undone.
 */
export function restoreSqlite(store: SqliteCopy, observations: SqliteCopy | null, now: number): SqliteRestored {
  checkCopy(store.copy, checkIsStore);
  if (observations !== null) checkCopy(observations.copy, checkIsObservations);
  const unlock = lockRestores(store.path);
  try {
    return replaceFiles(store, observations, now);
  } finally {
    unlock();
  }
}

/** Two restores at a time would put files in place that the other one is still writing. @throws StoreError */
function lockRestores(path: string): () => void {
  return orFileError(path, () => {
    makeFolder(dirname(path), 0o700);
    const lock = join(dirname(path), restoreLock);
    // SQLite would make it, too, and does not say why it cannot.
    closeSync(openSync(lock, "a", 0o600));
    const unlock = tryFileLock(lock);
    if (unlock !== null) return unlock;
    throw new StoreError("locked", path, "is being restored by another process", undefined, "wait until that restore has ended");
  });
}

function replaceFiles(store: SqliteCopy, observations: SqliteCopy | null, now: number): SqliteRestored {
  /** Steps that undo what was done; run them in reverse order. */
  const undo: (() => void)[] = [];
  try {
    const files = [store, ...(observations === null ? [] : [observations])];
    const ending = replacedEnding(now, (text) => files.map(({ path }) => `${path}${text}`));
    const staged = files.map((file) => stage(file, ending, undo));
    for (const { path, replaced } of staged) if (replaced !== null) closeForGood(path);
    // The store goes first and comes last: while it is missing, the files of a restore that was killed are not used.
    for (const file of staged) putAway(file, undo);
    for (const file of staged.toReversed()) {
      orFileError(file.path, () => syncFolder(file.path));
      move(file.incoming, file.path, undo);
    }
    for (const { path } of staged) orFileError(path, () => syncFolder(path));
    return { replaced: staged[0]?.replaced ?? null, replacedObservations: staged[1]?.replaced ?? null };
  } catch (error) {
    const stuck: string[] = [];
    for (const step of undo.reverse()) {
      try {
        step();
      } catch (failed) {
        stuck.push((failed as Error).message);
      }
    }
    if (stuck.length === 0) throw error;
    const explanation = `${(error as Error).message}; what was done could not be undone: ${stuck.join("; ")}`;
    throw new StoreError("unavailable", store.path, explanation, error, "move the files named .replaced- back by hand");
  }
}

/** A copy that is ready next to its target. */
interface Staged {
  readonly path: string;
  readonly incoming: string;
  /** The name that is reserved for the present file; null: there is none. */
  readonly replaced: string | null;
}

function stage({ copy, path }: SqliteCopy, ending: string, undo: (() => void)[]): Staged {
  const incoming = incomingOf(path);
  return orFileError(path, () => {
    makeFolder(dirname(path), 0o700);
    rmSync(incoming, { force: true });
    makeEmpty(incoming);
    undo.push(() => rmSync(incoming, { force: true }));
    copyFileSync(copy, incoming);
    syncFile(incoming);
    if (!existsSync(path)) return { path, incoming, replaced: null };
    const replaced = `${path}${ending}`;
    // Must not overwrite a file that another restore keeps at this moment.
    makeEmpty(replaced);
    undo.push(() => rmSync(replaced, { force: true }));
    return { path, incoming, replaced };
  });
}

function putAway({ path, replaced }: Staged, undo: (() => void)[]): void {
  if (replaced !== null) move(path, replaced, undo);
  // A lost or damaged store may have left these files. SQLite would replay them into the copy: a log does not say which file it belongs to.
  orFileError(path, () => {
    for (const rest of ["-wal", "-shm"]) rmSync(`${path}${rest}`, { force: true });
  });
}

function move(from: string, to: string, undo: (() => void)[]): void {
  orFileError(to, () => renameSync(from, to));
  undo.push(() => renameSync(to, from));
}

function orFileError<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof StoreError ? error : fileError(path, error);
  }
}

/** @throws StoreError unless it is an undamaged store that this program can read. */
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

/** As `checkWhole`, with another remedy: the one for a damaged store does not fit a damaged copy. */
function checkCopy(path: string, checkKind: CheckKind): void {
  try {
    checkWhole(path, checkKind);
  } catch (error) {
    if (!(error instanceof StoreError) || error.fault !== "damaged") throw error;
    throw new StoreError("damaged", path, error.explanation, error, "nothing was changed; restore another copy");
  }
}

function openExisting(path: string): SqliteConnection {
  // SQLite would create an empty one.
  if (!existsSync(path)) throw new StoreError("unavailable", path, "does not exist");
  return new SqliteConnection(path);
}

/** Ends the use of a write-ahead log, which only the last connection can: afterwards no other file holds data of the store. */
function closeForGood(path: string): void {
  const connection = openExisting(path);
  try {
    connection.exec("PRAGMA journal_mode = DELETE");
  } catch (cause) {
    // A copy may replace a damaged store.
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

/** Syncs the folder of a file: only then is its name safe. */
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
