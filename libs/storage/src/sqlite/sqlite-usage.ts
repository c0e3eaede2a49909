/** Usage in SQLite: a batch is one transaction, so its number alone tells whether it is in. */

import { condense, daysOf } from "../usage-batch.ts";
import type { UsageRepository, UsageRow } from "../usage-repository.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const addSql = `
  INSERT INTO usage (key_id, day, route_class, bucket, counted, uncounted) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (key_id, day, route_class) DO UPDATE SET counted = counted + excluded.counted, uncounted = uncounted + excluded.uncounted`;
const writerSql = `
  INSERT INTO usage_writers (writer, sequence) VALUES (?, ?)
  ON CONFLICT (writer) DO UPDATE SET sequence = excluded.sequence WHERE sequence < excluded.sequence`;

export function sqliteUsage(connection: SqliteConnection): UsageRepository {
  return {
    async add(batch) {
      const rows = condense(batch);
      connection.transaction(() => {
        if (connection.run(writerSql, batch.writer, batch.sequence) === 0) return;
        for (const row of rows) connection.run(addSql, row.keyId, row.day, row.routeClass, row.bucket, row.counted, row.uncounted);
      });
    },

    async list({ from, to, keyId, bucket }) {
      const wanted: string[] = [from, to];
      let where = "day >= ? AND day <= ?";
      if (keyId !== undefined) {
        where += " AND key_id = ?";
        wanted.push(keyId);
      }
      if (bucket !== undefined) {
        where += " AND bucket = ?";
        wanted.push(bucket);
      }
      return connection.all(`SELECT * FROM usage WHERE ${where} ORDER BY key_id, day, route_class`, ...wanted).map(toRow);
    },

    async monthTotal(bucket, month) {
      const { from, to } = daysOf(month);
      const sums = "coalesce(sum(counted), 0) AS counted, coalesce(sum(uncounted), 0) AS uncounted";
      const row = connection.get(`SELECT ${sums} FROM usage WHERE bucket = ? AND day >= ? AND day <= ?`, bucket, from, to);
      return { counted: Number(row?.counted), uncounted: Number(row?.uncounted) };
    },
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
