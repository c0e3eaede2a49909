/** Usage in SQLite: a batch is one transaction, so its number alone says whether it was added. */

import { setImmediate as turn } from "node:timers/promises";
import { condense, daysOf } from "../usage-batch.ts";
import type { UsageCounts, UsageQuery, UsageRepository, UsageRow } from "../usage-repository.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const addSql = `
  INSERT INTO usage (key_id, day, route_class, bucket, counted, uncounted) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (key_id, day, route_class) DO UPDATE SET counted = counted + excluded.counted, uncounted = uncounted + excluded.uncounted`;
const writerSql = `
  INSERT INTO usage_writers (writer, sequence, at) VALUES (?, ?, ?)
  ON CONFLICT (writer) DO UPDATE SET sequence = excluded.sequence, at = excluded.at WHERE sequence < excluded.sequence`;
const removeSql = `
  DELETE FROM usage WHERE (key_id, day, route_class) IN (SELECT key_id, day, route_class FROM usage WHERE day < ? LIMIT ?)`;
const nextKeySql = "SELECT key_id FROM usage WHERE key_id > ? ORDER BY key_id LIMIT 1";
const forgetSql = "DELETE FROM usage_writers WHERE writer IN (SELECT writer FROM usage_writers WHERE at < ? LIMIT ?)";

/** Number of keys that are read before other work gets the event loop: each has at most some thousand rows, one for each day and class. */
const keysOfTurn = 20;

export function sqliteUsage(connection: SqliteConnection, now: () => number): UsageRepository {
  const sum = (query: UsageQuery): UsageCounts => {
    const { where, values } = condition(query);
    const sums = "coalesce(sum(counted), 0) AS counted, coalesce(sum(uncounted), 0) AS uncounted";
    const row = connection.get(`SELECT ${sums} FROM usage WHERE ${where}`, ...values);
    return { counted: Number(row?.counted), uncounted: Number(row?.uncounted) };
  };

  /**
   * Splits a query about all keys into one for each key, starting with `fromKey`. With thousands of keys, a single statement would block the event
   * loop for seconds, and scan the other days of each key.
   */
  async function* byKey(query: UsageQuery, fromKey: string): AsyncGenerator<UsageQuery, undefined> {
    if (query.keyId !== undefined || query.bucket !== undefined) {
      yield query;
      return;
    }
    if (fromKey !== "") yield { ...query, keyId: fromKey };
    for (let keyId = fromKey, count = 1; ; count++) {
      const row = connection.get(nextKeySql, keyId);
      if (row === undefined) return;
      keyId = row.key_id as string;
      yield { ...query, keyId };
      if (count % keysOfTurn === 0) await turn();
    }
  }

  return {
    async add(batch) {
      const rows = condense(batch);
      await connection.patiently(() =>
        connection.transaction(() => {
          if (connection.run(writerSql, batch.writer, batch.sequence, now()) === 0) return;
          for (const row of rows) connection.run(addSql, row.keyId, row.day, row.routeClass, row.bucket, row.counted, row.uncounted);
        }),
      );
    },

    async list(query, page) {
      const limit = page?.limit ?? Number.POSITIVE_INFINITY;
      const after = page?.after ?? { keyId: "", day: "", routeClass: "" };
      const rows: UsageRow[] = [];
      for await (const part of byKey(query, after.keyId)) {
        const left = limit - rows.length;
        if (left <= 0) break;
        // Every row comes after the empty place; a negative limit means no limit.
        const place = [after.keyId, after.day, after.routeClass, Number.isFinite(left) ? left : -1];
        for (const row of connection.all(listSql(part), ...condition(part).values, ...place)) rows.push(toRow(row));
      }
      return rows;
    },

    async total(query) {
      const total = { counted: 0, uncounted: 0 };
      for await (const part of byKey(query, "")) {
        const { counted, uncounted } = sum(part);
        total.counted += counted;
        total.uncounted += uncounted;
      }
      return total;
    },

    async latestDay(before) {
      return (connection.get("SELECT max(day) AS day FROM usage WHERE day < ?", before)?.day ?? null) as string | null;
    },

    async removeBefore(day, limit) {
      return await connection.patiently(() => connection.run(removeSql, day, limit));
    },

    async forgetWriters(day, limit) {
      return await connection.patiently(() => connection.run(forgetSql, Date.parse(day), limit));
    },

    async monthTotal(bucket, month) {
      return sum({ ...daysOf(month), bucket });
    },
  };
}

/** Rows of a key or a bucket after a place, in their order. */
export function listSql(query: UsageQuery): string {
  const { where } = condition(query);
  return `SELECT * FROM usage WHERE ${where} AND (key_id, day, route_class) > (?, ?, ?) ORDER BY key_id, day, route_class LIMIT ?`;
}

const filters = [
  ["keyId", "key_id"],
  ["bucket", "bucket"],
  ["routeClass", "route_class"],
] as const;

function condition(query: UsageQuery): { where: string; values: string[] } {
  const wanted = filters.filter(([name]) => query[name] !== undefined);
  return {
    where: ["day >= ? AND day <= ?", ...wanted.map(([, column]) => `${column} = ?`)].join(" AND "),
    values: [query.from, query.to, ...wanted.map(([name]) => query[name] as string)],
  };
}

function toRow(row: Row): UsageRow {
  return {
    keyId: row.key_id as string,
    bucket: row.bucket as string,
    day: row.day as string,
    routeClass: row.route_class as string,
    counted: row.counted as number,
    uncounted: row.uncounted as number,
  };
}
