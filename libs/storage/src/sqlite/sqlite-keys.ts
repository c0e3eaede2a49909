/** Keys in SQLite. */

import type { Scope } from "@netfacts/contracts";
import type { KeyEdit, KeyEnvironment, KeyRecord, KeyRepository, KeyState, KeyUpdate } from "@netfacts/keys";
import type { Row, SqliteConnection } from "./connection.ts";

const columns =
  "id, hash, hash_algorithm, pepper_id, environment, last_four, label, scopes, allowed_cidrs, plan, rate_limit, rate_window_seconds, " +
  "month_limit, concurrency_limit, bucket, state, created_at, expires_at, replaced_by, rotated_at, valid_until, stepping_down, version";
const placeholders = columns.replaceAll(/\w+/g, "?");

/** @param changed  called after each of our own writes, as SQLite signals only those of other connections. */
export function sqliteKeys(connection: SqliteConnection, changed: () => void): KeyRepository {
  const find = (id: string): KeyRecord | null => {
    const row = connection.get(`SELECT ${columns} FROM keys WHERE id = ?`, id);
    return row === undefined ? null : toRecord(row);
  };

  return {
    async insert(key) {
      const sql = `INSERT INTO keys (${columns}) VALUES (${placeholders}) ON CONFLICT (id) DO NOTHING`;
      const rows = await connection.durably(() => connection.run(sql, ...toValues(key)));
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

    async page({ limit, after, plan, scope, state }) {
      const conditions: string[] = [];
      const wanted: (string | number)[] = [];
      const add = (condition: string, ...values: (string | number)[]): void => {
        conditions.push(condition);
        wanted.push(...values);
      };
      if (after !== undefined) add("(created_at, id) > (?, ?)", after.createdAt, after.id);
      if (plan !== undefined) add("plan = ?", plan);
      // JSON of plain words: a quoted word cannot match a part of another one.
      if (scope !== undefined) add("instr(scopes, ?) > 0", JSON.stringify(scope));
      if (state !== undefined) add("state = ?", state);
      const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      return connection.all(`SELECT ${columns} FROM keys ${where} ORDER BY created_at, id LIMIT ?`, ...wanted, limit).map(toRecord);
    },

    async rehash(id, from, to) {
      const sql = "UPDATE keys SET hash = ?, hash_algorithm = ?, pepper_id = ? WHERE id = ? AND hash = ?";
      return (await connection.durably(() => connection.run(sql, to.hash, to.hashAlgorithm, to.pepperId, id, from))) === 1;
    },

    async update(id, version, change: KeyEdit) {
      const update = await connection.durably((): KeyUpdate => {
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

/** The values in the order of `columns`. */
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
    key.concurrency?.limit ?? null,
    key.bucket,
    key.state,
    key.createdAt,
    key.expiresAt,
    key.replacedBy,
    key.rotatedAt,
    key.validUntil,
    key.steppingDown ? 1 : 0,
    key.version,
  ];
}

/** The casts are safe: the schema is STRICT with CHECKs, and only `toValues` writes these rows. */
function toRecord(row: Row): KeyRecord {
  const rateLimit = row.rate_limit as number | null;
  const monthLimit = row.month_limit as number | null;
  const concurrencyLimit = row.concurrency_limit as number | null;
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
    concurrency: concurrencyLimit === null ? null : { limit: concurrencyLimit },
    bucket: row.bucket as string,
    state: row.state as KeyState,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number | null,
    replacedBy: row.replaced_by as string | null,
    rotatedAt: row.rotated_at as number | null,
    validUntil: row.valid_until as number | null,
    steppingDown: row.stepping_down === 1,
    version: row.version as number,
  };
}
