/** The audit in SQLite; a trigger of the schema refuses changes. */

import type { AuditEntry, AuditRepository } from "@netfacts/keys";
import { auditEntry } from "../audit-entry.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const columns = "at, id, actor, action, target, address, key_id, details";

export function sqliteAudit(connection: SqliteConnection): AuditRepository {
  return {
    async append(wanted) {
      const entry = auditEntry(wanted);
      const { at, id, actor, action, target, address, keyId, details } = entry;
      const sql = `INSERT INTO audit (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
      const values = [at, id, actor, action, target, address, keyId, JSON.stringify(details)];
      await connection.durably(() => connection.run(sql, ...values));
      return entry;
    },

    async list({ limit, from, to, before, ...exactly }) {
      const wanted: (string | number)[] = [from ?? 0, to ?? Number.MAX_SAFE_INTEGER];
      let where = "at >= ? AND at < ?";
      if (before !== undefined) {
        where += " AND (at, id) < (?, ?)";
        wanted.push(before.at, before.id);
      }
      for (const member of ["actor", "action", "target"] as const) {
        const value = exactly[member];
        if (value === undefined) continue;
        where += ` AND ${member} = ?`;
        wanted.push(value);
      }
      return connection.all(`SELECT ${columns} FROM audit WHERE ${where} ORDER BY at DESC, id DESC LIMIT ?`, ...wanted, limit).map(toEntry);
    },
  };
}

function toEntry(row: Row): AuditEntry {
  return {
    id: row.id as string,
    at: row.at as number,
    actor: row.actor as string,
    action: row.action as string,
    target: row.target as string | null,
    address: row.address as string | null,
    keyId: row.key_id as string | null,
    details: JSON.parse(row.details as string) as unknown,
  };
}
