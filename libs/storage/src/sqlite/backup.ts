/** Copies of the store's file, and of that of uploaded observations: taken while it is in use, and put back while it is not. */

import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../make-folder.ts";
import { fileError, StoreError } from "../store-error.ts";
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

/** SQLITE_IOERR_WRITE (sqlite.org/rescode.html). */
const ioErrorAtWriting = 778;

/** @throws StoreError for a file of another kind, or of a later version. */
type CheckKind = (connection: SqliteConnection) => void;

function backUp(path: string, target: string, checkKind: CheckKind): void {
  const source = openExisting(path);
  try {
    checkKind(source);
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

function vacuumInto(source: SqliteConnection, target: string): void {
  try {
    source.run("VACUUM INTO ?", target);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // Nothing but the copy is written.
    const isAtWriting = error.fault === "full" || (error.cause as { errcode?: unknown } | undefined)?.errcode === ioErrorAtWriting;
    throw isAtWriting ? new StoreError(error.fault, target, error.explanation, error.cause) : error;
  }
}

/** A copy, and the file whose place it takes. */
export interface SqliteCopy {
  readonly copy: string;
  readonly path: string;
}

/** Paths of the files that were replaced; null where there was none. */
export interface SqliteRestored {
  readonly replaced: string | null;
  readonly replacedObservations: string | null;
}

/**
 * Puts copies in the place of the store and of the uploaded observations: both are replaced, or none. The earlier files are kept under
 * other names. No other process may have the store open: one that has it makes this fail, and nothing is changed. The folder of the store
 * is made when missing.
 *
 * @param observations  null: they stay as they are.
 * @throws StoreError; then neither file is another one than before, unless its message says that this could not be taken back.
 */
export function restoreSqlite(store: SqliteCopy, observations: SqliteCopy | null, now: number): SqliteRestored {
  checkCopy(store.copy, checkIsStore);
  if (observations !== null) checkCopy(observations.copy, checkIsObservations);
  /** Takes back what was done, the last of it first. */
  const undo: (() => void)[] = [];
  try {
    const staged = [store, ...(observations === null ? [] : [observations])].map((file) => stage(file, now, undo));
    for (const { path, replaced } of staged) if (replaced !== null) closeForGood(path);
    for (const file of staged) put(file, undo);
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

/** A copy that lies beside its place. */
interface Staged {
  readonly path: string;
  readonly incoming: string;
  /** Name that is reserved for what is at the place now; null: nothing is. */
  readonly replaced: string | null;
}

function stage({ copy, path }: SqliteCopy, now: number, undo: (() => void)[]): Staged {
  const incoming = `${path}.restoring`;
  return orFileError(path, () => {
    makeFolder(dirname(path), 0o700);
    rmSync(incoming, { force: true });
    makeEmpty(incoming);
    undo.push(() => rmSync(incoming, { force: true }));
    copyFileSync(copy, incoming);
    syncFile(incoming);
    if (!existsSync(path)) return { path, incoming, replaced: null };
    const replaced = `${path}.replaced-${new Date(now).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
    // Not over what was put aside a moment ago.
    makeEmpty(replaced);
    undo.push(() => rmSync(replaced, { force: true }));
    return { path, incoming, replaced };
  });
}

function put({ path, incoming, replaced }: Staged, undo: (() => void)[]): void {
  const move = (from: string, to: string): void => {
    renameSync(from, to);
    undo.push(() => renameSync(to, from));
  };
  orFileError(path, () => {
    if (replaced !== null) move(path, replaced);
    // SQLite would replay into the copy what a store that is lost or damaged left there: nothing in a log tells which file it is of.
    for (const rest of ["-wal", "-shm"]) rmSync(`${path}${rest}`, { force: true });
    move(incoming, path);
  });
}

function orFileError<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
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
