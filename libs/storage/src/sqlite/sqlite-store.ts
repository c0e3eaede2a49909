/** The store in one SQLite file: the embedded default, shared by the processes of one machine. */

import type { Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { ChangeWatch } from "./change-watch.ts";
import { eventLoopWaitMs, type SqliteConnection } from "./connection.ts";
import { migrate } from "./migrations.ts";
import { openOwnFile } from "./own-file.ts";
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

const settings = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL";

const housekeepingMs = 600_000;

/**
 * Opens the file, checks it unless `check` is false, and migrates its schema; creates it, and its folder, if it is missing. Only the owner may read
 * it. Waits up to two seconds for other processes that open it at the same time.
 *
 * @throws StoreError
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<Store> {
  const now = options.now ?? Date.now;
  const { check = true } = options;
  const connection = await openOwnFile(path, settings, (opened) => {
    migrate(opened);
    if (check) checkPages(opened);
  });
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

function checkPages(connection: SqliteConnection): void {
  const check = connection.get("PRAGMA quick_check(1)")?.quick_check;
  if (check !== "ok") throw new StoreError("damaged", connection.path, String(check));
}

function sweep(connection: SqliteConnection, now: number): void {
  try {
    connection.unlessLocked(() => deleteExpiredWindows(connection, now));
  } catch (error) {
    // Housekeeping only: the next sweep removes them, and readers check the expiry themselves.
    if (!(error instanceof StoreError)) throw error;
  }
}
