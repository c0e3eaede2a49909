/** Usage in SQLite: a batch is one transaction, so its number alone tells whether it is in. */

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
const forgetSql = "DELETE FROM usage_writers WHERE writer IN (SELECT writer FROM usage_writers WHERE at < ? LIMIT ?)";

export function sqliteUsage(connection: SqliteConnection, now: () => number): UsageRepository {
  const sum = (query: UsageQuery): UsageCounts => {
    const { where, values } = condition(query);
    const sums = "coalesce(sum(counted), 0) AS counted, coalesce(sum(uncounted), 0) AS uncounted";
    const row = connection.get(`SELECT ${sums} FROM usage WHERE ${where}`, ...values);
    return { counted: Number(row?.counted), uncounted: Number(row?.uncounted) };
  };

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
      const { keyId = "", day = "", routeClass = "" } = page?.after ?? {};
      // No row is before the empty place; a negative limit is none.
      return connection.all(listSql(query), ...condition(query).values, keyId, day, routeClass, page?.limit ?? -1).map(toRow);
    },

    async total(query) {
      return sum(query);
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

/**
 * Rows of a query behind a place, in their order. By the primary key, which has that order; `+` keeps SQLite from the index on days, with
 * which each page would read and sort the rows of all. The few rows of a bucket are soon sorted.
 */
export function listSql(query: UsageQuery): string {
  const isOfFew = query.keyId !== undefined || query.bucket !== undefined;
  const { where } = condition(query, isOfFew ? "day" : "+day");
  return `SELECT * FROM usage WHERE ${where} AND (key_id, day, route_class) > (?, ?, ?) ORDER BY key_id, day, route_class LIMIT ?`;
}

const filters = [
  ["keyId", "key_id"],
  ["bucket", "bucket"],
  ["routeClass", "route_class"],
] as const;

function condition(query: UsageQuery, day = "day"): { where: string; values: string[] } {
  const wanted = filters.filter(([name]) => query[name] !== undefined);
  return {
    where: [`${day} >= ? AND ${day} <= ?`, ...wanted.map(([, column]) => `${column} = ?`)].join(" AND "),
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
