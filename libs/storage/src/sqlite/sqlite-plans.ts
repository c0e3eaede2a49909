/** Plans in SQLite. */

import type { PlanRecord, PlanRepository } from "@netfacts/keys";
import type { Row, SqliteConnection } from "./connection.ts";

const columns = "name, rate_limit, rate_window_seconds, month_limit, concurrency_limit, updated_at, version";

/** @param changed  called after each of our own writes, as SQLite signals only those of other connections. */
export function sqlitePlans(connection: SqliteConnection, changed: () => void): PlanRepository {
  const find = (name: string): PlanRecord | null => {
    const row = connection.get(`SELECT ${columns} FROM plans WHERE name = ?`, name);
    return row === undefined ? null : toRecord(row);
  };

  return {
    async put({ name, rate, month, concurrency, updatedAt }) {
      const plan = await connection.durably((): PlanRecord => {
        const version = (find(name)?.version ?? 0) + 1;
        const values = [name, rate.limit, rate.windowSeconds, month.limit, concurrency?.limit ?? null, updatedAt, version];
        connection.run(`REPLACE INTO plans (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?)`, ...values);
        return { name, rate, month, concurrency, updatedAt, version };
      });
      changed();
      return plan;
    },

    async find(name) {
      return find(name);
    },

    async list() {
      return connection.all(`SELECT ${columns} FROM plans ORDER BY name`).map(toRecord);
    },

    async delete(name) {
      const deleted = (await connection.durably(() => connection.run("DELETE FROM plans WHERE name = ?", name))) === 1;
      if (deleted) changed();
      return deleted;
    },
  };
}

function toRecord(row: Row): PlanRecord {
  const concurrency = row.concurrency_limit as number | null;
  return {
    name: row.name as string,
    rate: { limit: row.rate_limit as number, windowSeconds: row.rate_window_seconds as number },
    month: { limit: row.month_limit as number },
    concurrency: concurrency === null ? null : { limit: concurrency },
    updatedAt: row.updated_at as number,
    version: row.version as number,
  };
}
