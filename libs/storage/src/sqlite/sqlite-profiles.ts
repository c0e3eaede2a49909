/** The operator's AS profiles in SQLite. */

import type { ProfileRecord, ProfileRepository } from "../profile-repository.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const columns = "asn, profile, source, updated_at";

export function sqliteProfiles(connection: SqliteConnection): ProfileRepository {
  return {
    async put({ asn, profile, source, updatedAt }) {
      const sql = `REPLACE INTO profiles (${columns}) VALUES (?, ?, ?, ?)`;
      await connection.durably(() => connection.run(sql, asn, JSON.stringify(profile), source, updatedAt));
    },

    async get(asn) {
      const row = connection.get(`SELECT ${columns} FROM profiles WHERE asn = ?`, asn);
      return row === undefined ? null : toRecord(row);
    },

    async list(limit, after = -1) {
      return connection.all(`SELECT ${columns} FROM profiles WHERE asn > ? ORDER BY asn LIMIT ?`, after, limit).map(toRecord);
    },

    async state() {
      // As text: the sum of some thousand times exceeds the safe range of a number.
      const sums = "COUNT(*) AS count, MAX(updated_at) AS last, CAST(SUM(updated_at) AS TEXT) AS sum";
      const { count, last, sum } = connection.get(`SELECT ${sums} FROM profiles`) ?? {};
      return { count: count as number, version: [count, last ?? 0, sum ?? 0].join(" ") };
    },

    async delete(asn) {
      return (await connection.durably(() => connection.run("DELETE FROM profiles WHERE asn = ?", asn))) === 1;
    },
  };
}

function toRecord(row: Row): ProfileRecord {
  return {
    asn: row.asn as number,
    profile: JSON.parse(row.profile as string) as ProfileRecord["profile"],
    source: row.source as string,
    updatedAt: row.updated_at as number,
  };
}
