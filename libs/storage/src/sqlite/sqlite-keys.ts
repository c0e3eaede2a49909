/** Keys in SQLite. */

import type { Scope } from "@netfacts/contracts";
import type { KeyChange, KeyEnvironment, KeyRecord, KeyRepository, KeyState, KeyUpdate } from "../key-repository.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const columns =
  "id, hash, hash_algorithm, pepper_id, environment, last_four, label, scopes, allowed_cidrs, plan, rate_limit, rate_window_seconds, " +
  "month_limit, bucket, state, created_at, expires_at, replaced_by, valid_until, version";
const placeholders = columns.replaceAll(/\w+/g, "?");

/** @param changed  called after each write of ours, as SQLite signals only those of other connections. */
export function sqliteKeys(connection: SqliteConnection, changed: () => void): KeyRepository {
  const find = (id: string): KeyRecord | null => {
    const row = connection.get(`SELECT ${columns} FROM keys WHERE id = ?`, id);
    return row === undefined ? null : toRecord(row);
  };

  return {
    async insert(key) {
      const sql = `INSERT INTO keys (${columns}) VALUES (${placeholders}) ON CONFLICT (id) DO NOTHING`;
      const rows = connection.durably(() => connection.run(sql, ...toValues(key)));
      if (rows === 0) return "exists";
      changed();
      return "inserted";
    },

    async find(id) {
      return find(id);
    },

    async list() {
      return connection.all(`SELECT ${columns} FROM keys ORDER BY created_at, id`).map(toRecord);
    },

    async update(id, version, change: KeyChange) {
      const update = connection.durably((): KeyUpdate => {
        const current = find(id);
        if (current === null) return { outcome: "absent" };
        if (current.version !== version) return { outcome: "conflict", key: current };
        const key: KeyRecord = { ...current, ...change, version: version + 1 };
        connection.run(`REPLACE INTO keys (${columns}) VALUES (${placeholders})`, ...toValues(key));
        return { outcome: "updated", key };
      });
      if (update.outcome === "updated") changed();
      return update;
    },
  };
}

/** In the order of `columns`. */
function toValues(key: KeyRecord): (string | number | null)[] {
  return [
    key.id,
    key.hash,
    key.hashAlgorithm,
    key.pepperId,
    key.environment,
    key.lastFour,
    key.label,
    JSON.stringify(key.scopes),
    JSON.stringify(key.allowedCidrs),
    key.plan,
    key.rate?.limit ?? null,
    key.rate?.windowSeconds ?? null,
    key.month?.limit ?? null,
    key.bucket,
    key.state,
    key.createdAt,
    key.expiresAt,
    key.replacedBy,
    key.validUntil,
    key.version,
  ];
}

/** The schema is STRICT and CHECKed, and only `toValues` writes it: the casts repeat what it guarantees. */
function toRecord(row: Row): KeyRecord {
  const rateLimit = row.rate_limit as number | null;
  const monthLimit = row.month_limit as number | null;
  return {
    id: row.id as string,
    hash: row.hash as string,
    hashAlgorithm: row.hash_algorithm as KeyRecord["hashAlgorithm"],
    pepperId: row.pepper_id as string | null,
    environment: row.environment as KeyEnvironment,
    lastFour: row.last_four as string,
    label: row.label as string,
    scopes: JSON.parse(row.scopes as string) as Scope[],
    allowedCidrs: JSON.parse(row.allowed_cidrs as string) as string[],
    plan: row.plan as string,
    rate: rateLimit === null ? null : { limit: rateLimit, windowSeconds: row.rate_window_seconds as number },
    month: monthLimit === null ? null : { limit: monthLimit },
    bucket: row.bucket as string,
    state: row.state as KeyState,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number | null,
    replacedBy: row.replaced_by as string | null,
    validUntil: row.valid_until as number | null,
    version: row.version as number,
  };
}
