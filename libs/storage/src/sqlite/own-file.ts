/** Our SQLite files: how they are opened, and what identifies each kind. */

import { accessSync, chmodSync, closeSync, constants, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeFolder } from "../make-folder.ts";
import { fileError, StoreError } from "../store-error.ts";
import { busyTimeoutMs, SqliteConnection } from "./connection.ts";

/** SQLite's name for a store in the memory of this process: for tests. */
const inMemory = ":memory:";

/** Path of a copy that a restore is about to put in the place of a file. */
export function incomingOf(path: string): string {
  return `${path}.restoring`;
}

/** Time after which a file that is locked while it is opened is tried again. */
const retryMs = 25;

/** A kind of file. Its id and the version of the schema are in SQLite's header. */
export interface FileKind {
  readonly applicationId: number;
  /** Version of the newest schema. */
  readonly version: number;
  /** For messages, such as "a Netfacts store". */
  readonly name: string;
}

/**
 * Opens a file; creates it, and its folder, if it is missing. Only the owner may read it. Waits up to two seconds for other processes that open it at
 * the same time.
 *
 * @param settings  SQL that is run first.
 * @param prepare   checks and migrates the file; the connection is closed if it throws.
 * @throws StoreError
 */
export async function openOwnFile(
  path: string,
  settings: string,
  prepare: (connection: SqliteConnection) => void,
): Promise<SqliteConnection> {
  if (path !== inMemory) {
    prepareFolder(path);
    checkWritable(path);
    checkNotMoved(path);
  }
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return open(path, settings, prepare);
    } catch (error) {
      // Switching a new file to WAL mode fails with "locked" at once, without SQLite's own waiting.
      if (!(error instanceof StoreError) || error.fault !== "locked" || performance.now() > deadline) throw error;
      await sleep(retryMs);
    }
  }
}

function open(path: string, settings: string, prepare: (connection: SqliteConnection) => void): SqliteConnection {
  const isNew = path !== inMemory && !existsSync(path);
  if (isNew) makePrivate(path);
  const connection = new SqliteConnection(path);
  try {
    connection.exec(settings);
    // For what `makePrivate` does not make: the target of a link.
    if (isNew) chmodSync(path, 0o600);
    prepare(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** SQLite would make a file that others may read, and leave it so if its first write finds the disk full. Also the files beside it get this mode. */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch {
    // Another process has just made it, or SQLite's own error says what is wrong.
  }
}

/**
 * Brings a file to the newest schema, in one transaction. An empty file becomes one of this kind.
 *
 * @param upgrade  changes the schema of this version, 0 for an empty file, to the newest one.
 * @throws StoreError `foreign` for another program's database, `newer` for one of a later version of ours.
 */
export function migrateFile(connection: SqliteConnection, kind: FileKind, upgrade: (version: number) => void): void {
  connection.transaction(() => {
    const isEmpty = connection.get("SELECT 1 FROM sqlite_schema") === undefined;
    if (!(isEmpty && pragma(connection, "application_id") === 0)) checkOwner(connection, kind);
    upgrade(checkedVersion(connection, kind));
    connection.exec(`PRAGMA application_id = ${kind.applicationId}; PRAGMA user_version = ${kind.version}`);
  });
}

/** Checks that the file is of this kind, and of its version or an earlier one. @throws StoreError `foreign`, `newer`. */
export function checkKind(connection: SqliteConnection, kind: FileKind): void {
  checkOwner(connection, kind);
  checkedVersion(connection, kind);
}

function checkOwner(connection: SqliteConnection, { applicationId, name }: FileKind): void {
  if (pragma(connection, "application_id") !== applicationId) throw new StoreError("foreign", connection.path, `is not ${name}`);
}

function checkedVersion(connection: SqliteConnection, { version: newest }: FileKind): number {
  const version = pragma(connection, "user_version");
  if (version <= newest) return version;
  throw new StoreError("newer", connection.path, `has schema version ${version}; this program supports ${newest}`);
}

function pragma(connection: SqliteConnection, name: "application_id" | "user_version"): number {
  return Number(connection.get(`PRAGMA ${name}`)?.[name]);
}

function prepareFolder(path: string): void {
  try {
    makeFolder(dirname(path), 0o700);
  } catch (cause) {
    throw fileError(path, cause);
  }
}

/** A new file would look like the restored one. */
function checkNotMoved(path: string): void {
  if (existsSync(path) || !existsSync(incomingOf(path))) return;
  const remedy = "run `netfacts restore` again, or move each file named .replaced- back; if there is none, remove those named .restoring";
  throw new StoreError("unavailable", path, "is missing, because a restore was interrupted", undefined, remedy);
}

/** Reports missing permission clearly: SQLite says only "unable to open". */
function checkWritable(path: string): void {
  try {
    accessSync(dirname(path), constants.W_OK);
    if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK);
  } catch (cause) {
    throw new StoreError("readonly", path, "is not writable by this user", cause);
  }
}
