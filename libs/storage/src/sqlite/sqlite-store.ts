/** The store in one SQLite file: the embedded default, shared by the processes of one machine. */

import { accessSync, chmodSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeFolder } from "../make-folder.ts";
import type { Store } from "../store.ts";
import { fileError, StoreError } from "../store-error.ts";
import { ChangeWatch } from "./change-watch.ts";
import { busyTimeoutMs, eventLoopWaitMs, SqliteConnection } from "./connection.ts";
import { migrate } from "./migrations.ts";
import { sqliteAudit } from "./sqlite-audit.ts";
import { sqliteBootstrap } from "./sqlite-bootstrap.ts";
import { sqliteIdempotency } from "./sqlite-idempotency.ts";
import { sqliteKeys } from "./sqlite-keys.ts";
import { sqliteLeases } from "./sqlite-leases.ts";
import { deleteExpiredWindows, sqliteLimits } from "./sqlite-limits.ts";
import { sqlitePlans } from "./sqlite-plans.ts";
import { sqliteProfiles } from "./sqlite-profiles.ts";
import { sqliteRuns } from "./sqlite-runs.ts";
import { sqliteStatements } from "./sqlite-statements.ts";
import { sqliteUsage } from "./sqlite-usage.ts";

export interface SqliteStoreOptions {
  /** The store's clock, Unix milliseconds; tests set it. */
  readonly now?: () => number;
  /**
   * Reads the whole file first, and refuses one with any damaged page. Takes some seconds per 500 MB, which is acceptable when a service starts. If
   * false, a damaged page is found only when something on it is read. Default: true.
   */
  readonly check?: boolean;
}

/** SQLite's name for a store in the memory of this process: for tests. */
const inMemory = ":memory:";

const housekeepingMs = 600_000;

/**
 * Opens the file, checks it unless `check` is false, and migrates its schema; creates it, and its folder, if it is missing. Only the owner may read
 * it. Waits up to two seconds for other processes that open it at the same time.
 *
 * @throws StoreError
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<Store> {
  const now = options.now ?? Date.now;
  const connection = await connect(path, options.check ?? true);
  deleteExpiredWindows(connection, now());
  connection.exec(`PRAGMA busy_timeout = ${eventLoopWaitMs}`);
  const housekeeping = setInterval(() => sweep(connection, now()), housekeepingMs).unref();
  const watch = new ChangeWatch(connection);
  return {
    keys: sqliteKeys(connection, () => watch.notify()),
    plans: sqlitePlans(connection, () => watch.notify()),
    limits: sqliteLimits(connection, now),
    runs: sqliteRuns(connection),
    bootstrap: sqliteBootstrap(connection),
    usage: sqliteUsage(connection, now),
    profiles: sqliteProfiles(connection),
    statements: sqliteStatements(connection),
    audit: sqliteAudit(connection),
    idempotency: sqliteIdempotency(connection),
    leases: sqliteLeases(connection, now),
    changesSeen: "any",
    onChange: (listener) => watch.listen(listener),
    async close() {
      clearInterval(housekeeping);
      watch.stop();
      connection.close();
    },
  };
}

async function connect(path: string, isChecked: boolean): Promise<SqliteConnection> {
  if (path !== inMemory) {
    prepareFolder(path);
    checkWritable(path);
  }
  const deadline = performance.now() + busyTimeoutMs;
  for (;;) {
    try {
      return open(path, isChecked);
    } catch (error) {
      // Switching a new file to WAL mode fails with "locked" at once, without SQLite's own waiting.
      if (!(error instanceof StoreError) || error.fault !== "locked" || performance.now() > deadline) throw error;
      await sleep(25);
    }
  }
}

function open(path: string, isChecked: boolean): SqliteConnection {
  const isNew = !existsSync(path);
  const connection = new SqliteConnection(path);
  try {
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    if (isNew && path !== inMemory) chmodSync(path, 0o600);
    migrate(connection);
    if (isChecked) checkPages(connection);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function checkPages(connection: SqliteConnection): void {
  const check = connection.get("PRAGMA quick_check(1)")?.quick_check;
  if (check !== "ok") throw new StoreError("damaged", connection.path, String(check));
}

function prepareFolder(path: string): void {
  try {
    makeFolder(dirname(path), 0o700);
  } catch (cause) {
    throw fileError(path, cause);
  }
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

function sweep(connection: SqliteConnection, now: number): void {
  try {
    connection.unlessLocked(() => deleteExpiredWindows(connection, now));
  } catch (error) {
    // Housekeeping only: the next sweep removes them, and readers check the expiry themselves.
    if (!(error instanceof StoreError)) throw error;
  }
}
