/** Leases in SQLite. */

import type { Lease, LeaseRepository } from "../lease-repository.ts";
import { checkLeaseTime, leaseMsMax } from "../lease-time.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const acquireSql = `
  INSERT INTO leases (name, owner, fence, until) VALUES ($name, $owner, 1, $until)
  ON CONFLICT (name) DO UPDATE SET owner = $owner, until = $until, fence = fence + (owner IS NOT $owner)
  WHERE owner IS NULL OR owner = $owner OR until <= $now
  RETURNING *`;
/** A clock that was set back must not let the lease of a dead owner last as much longer. No lease ends so late: its time begins again. */
const beginAgainSql = "UPDATE leases SET until = ? WHERE name = ? AND until > ?";
const renewSql = "UPDATE leases SET until = $until WHERE name = $name AND owner = $owner RETURNING *";

/** @param now  the store's clock: that of this machine, the same for every process that uses the file. */
export function sqliteLeases(connection: SqliteConnection, now: () => number): LeaseRepository {
  const read = (name: string): Lease | null => {
    const row = connection.get("SELECT * FROM leases WHERE name = ? AND owner IS NOT NULL AND until > ?", name, now());
    return row === undefined ? null : toLease(row);
  };

  return {
    async acquire(name, owner, ttlMs) {
      checkLeaseTime(ttlMs);
      return await connection.patiently(() =>
        connection.transaction(() => {
          const at = now();
          connection.run(beginAgainSql, at + ttlMs, name, at + leaseMsMax);
          const row = connection.getNamed(acquireSql, { name, owner, until: at + ttlMs, now: at });
          if (row !== undefined) return { outcome: "held", lease: toLease(row) };
          // Both statements are in one transaction, so nobody changes the lease in between.
          return { outcome: "taken", lease: toLease(connection.get("SELECT * FROM leases WHERE name = ?", name) as Row) };
        }),
      );
    },

    async renew(name, owner, ttlMs) {
      checkLeaseTime(ttlMs);
      const row = await connection.patiently(() => connection.getNamed(renewSql, { name, owner, until: now() + ttlMs }));
      return row === undefined ? { outcome: "lost" } : { outcome: "held", lease: toLease(row) };
    },

    async release(name, owner) {
      await connection.patiently(() => connection.run("UPDATE leases SET owner = NULL WHERE name = ? AND owner = ?", name, owner));
    },

    async read(name) {
      return read(name);
    },
  };
}

/** @param row  a row with an owner. */
function toLease(row: Row): Lease {
  return { name: row.name as string, owner: row.owner as string, fence: row.fence as number, until: row.until as number };
}
