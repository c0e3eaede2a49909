/** Counters of leased units in SQLite: each operation is one atomic statement. */

import type { GiveBackOutcome, LimitRepository, LimitWindow, RecoverOutcome, TakeOutcome } from "../limit-repository.ts";
import { StoreError, type StoreFault } from "../store-error.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const takeSql = `
  INSERT INTO limit_windows (bucket, policy, start, leased, at, expires_at) VALUES ($bucket, $policy, $start, $units, $at, $expiresAt)
  ON CONFLICT (bucket, policy, start) DO UPDATE SET leased = leased + $units, at = $at, expires_at = max(expires_at, $expiresAt)
  WHERE leased + $units <= $limit
  RETURNING leased`;
const giveBackSql = `
  UPDATE limit_windows SET leased = leased - $units, at = $at
  WHERE bucket = $bucket AND policy = $policy AND start = $start AND leased >= $units
  RETURNING leased`;
const readSql = "SELECT leased FROM limit_windows WHERE bucket = $bucket AND policy = $policy AND start = $start AND expires_at > $at";

/** A row that is no lease: it has no owner. */
const timeSql =
  "INSERT INTO leases (name, owner, fence, until) VALUES ('time', NULL, 0, ?) ON CONFLICT (name) DO UPDATE SET until = excluded.until";

const monthBeforeSql = "SELECT start FROM limit_windows WHERE policy = 'month' AND start < ? ORDER BY expires_at DESC LIMIT 1";
const deleteSql = "DELETE FROM limit_windows WHERE expires_at <= ? AND (policy <> 'month' OR start < ?)";

/** After these failures the statement has changed nothing. After a disk error that is not certain. */
const withoutEffect: ReadonlySet<StoreFault> = new Set(["locked", "full", "readonly", "closed"]);

/** @param now  the store's clock. SQLite has no server, so it is the clock of this machine: the same for every process that uses the file. */
export function sqliteLimits(connection: SqliteConnection, now: () => number): LimitRepository {
  const query = (sql: string, window: LimitWindow, at: number, more: Record<string, number> = {}): Row | undefined =>
    connection.getNamed(sql, { bucket: window.bucket, policy: window.policy, start: window.start, at, ...more });
  const leasedOf = (row: Row | undefined): number => (row === undefined ? 0 : Number(row.leased));

  return {
    async take(window, limit, units): Promise<TakeOutcome> {
      if (!Number.isInteger(units) || !Number.isInteger(limit) || units < 1 || units > limit) {
        throw new RangeError(`cannot take ${units} of ${limit} units`);
      }
      try {
        const at = now();
        const row = connection.unlessLocked(() => query(takeSql, window, at, { units, limit, expiresAt: window.expiresAt }));
        if (row !== undefined) return { outcome: "granted", leased: leasedOf(row), at };
        const leased = leasedOf(query(readSql, window, at));
        return { outcome: "does-not-fit", left: Math.max(0, limit - leased), leased, at };
      } catch (cause) {
        if (cause instanceof StoreError) return { outcome: "unknown", cause };
        throw cause;
      }
    },

    async giveBack(window, units): Promise<GiveBackOutcome> {
      if (!Number.isInteger(units) || units < 1) throw new RangeError(`cannot give back ${units} units`);
      try {
        const at = now();
        const row = connection.unlessLocked(() => query(giveBackSql, window, at, { units }));
        return row === undefined ? { outcome: "refused" } : { outcome: "returned", leased: leasedOf(row), at };
      } catch (cause) {
        if (!(cause instanceof StoreError)) throw cause;
        // The units may have been returned already: they must not be spent.
        return withoutEffect.has(cause.fault) ? { outcome: "unknown", cause } : { outcome: "refused" };
      }
    },

    /** A failed take leased no units, and a return that failed with `unknown` returned none. */
    async recover(window): Promise<RecoverOutcome> {
      try {
        const at = now();
        return { outcome: "not-done", leased: leasedOf(query(readSql, window, at)), at };
      } catch (cause) {
        if (cause instanceof StoreError) return { outcome: "unknown", cause };
        throw cause;
      }
    },

    async read(window) {
      const at = now();
      return { leased: leasedOf(query(readSql, window, at)), at };
    },

    async time() {
      const at = now();
      // A write like those of limits, so that a full disk fails here too.
      connection.unlessLocked(() => connection.run(timeSql, at));
      return at;
    },
  };
}

/**
 * Housekeeping; readers check `expires_at` themselves. A clock may be months ahead and be corrected later. So counters of a month are removed only
 * when two later months have counters: a wrong clock would need a month for that. @returns the number of removed counters.
 */
export function deleteExpiredWindows(connection: SqliteConnection, now: number): number {
  const latest = monthBefore(connection, Number.MAX_SAFE_INTEGER);
  return connection.run(deleteSql, now, monthBefore(connection, latest));
}

/** The start of the latest month before `start` that has counters, Unix seconds; 0: there is none. */
function monthBefore(connection: SqliteConnection, start: number): number {
  return Number(connection.get(monthBeforeSql, start)?.start ?? 0);
}
