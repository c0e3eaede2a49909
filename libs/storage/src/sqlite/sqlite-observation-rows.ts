/** The rows of uploaded observations in SQLite. A row's id is a number that sorts by upload and line, so that an upload is one range of ids. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Prefix } from "@netfacts/address";
import { coveringKeys, keysWithin, lineOfRow, prefixKey, prefixOfKey, rowId, uploadOfRow } from "../observation-keys.ts";
import type { ObservationRow, RowSelector, StoredRow } from "../observation-repository.ts";
import type { Row, SqliteConnection } from "./connection.ts";

const insertSql = `
  INSERT INTO observations (id, prefix, country, region, city, latitude, longitude, accuracy_km, observed_at, method)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING`;
const groupRows = 1_000;

export class SqliteObservationRows {
  readonly #connection: SqliteConnection;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  /** Stores rows of an upload; those that are there already stay. Call it within a transaction. @returns the number of new rows */
  insert(upload: number, rows: readonly ObservationRow[]): number {
    let inserted = 0;
    for (const row of rows) inserted += this.#connection.run(insertSql, ...valuesOf(upload, row));
    return inserted;
  }

  /** Removes at most `limit` rows. Call it within a transaction. @returns their number */
  remove(selector: RowSelector, limit: number): number {
    const { where, values } = whereOf(selector);
    const sql = `DELETE FROM observations WHERE id IN (SELECT id FROM observations WHERE ${where} LIMIT ?)`;
    return this.#connection.run(sql, ...values, limit);
  }

  hasAny(upload: number): boolean {
    const sql = "SELECT 1 FROM observations WHERE id BETWEEN ? AND ? LIMIT 1";
    return this.#connection.get(sql, rowId(upload, 0), rowId(upload + 1, 0) - 1) !== undefined;
  }

  newest(): number | null {
    const sql = "SELECT max(observed_at) AS newest FROM observations WHERE observed_at IS NOT NULL";
    return (this.#connection.get(sql)?.newest ?? null) as number | null;
  }

  async *all(): AsyncGenerator<StoredRow[], void> {
    for (let after = 0; ; ) {
      const rows = this.#connection.all("SELECT * FROM observations WHERE id > ? ORDER BY id LIMIT ?", after, groupRows);
      if (rows.length > 0) yield rows.map(toRow);
      if (rows.length < groupRows) return;
      after = rows.at(-1)?.id as number;
      await nextTurn();
    }
  }

  async *about(prefix: Prefix): AsyncGenerator<StoredRow[], void> {
    for (const key of coveringKeys(prefix)) yield* this.#groupsBetween(key, key);
    const { first, last } = keysWithin(prefix, true);
    yield* this.#groupsBetween(first, last);
  }

  /** Rows whose prefix key lies between two keys, inclusive. */
  async *#groupsBetween(first: string, last: string): AsyncGenerator<StoredRow[], void> {
    let [key, id] = [first, 0];
    for (;;) {
      const rows = this.#connection.all(
        "SELECT * FROM observations WHERE (prefix, id) > (?, ?) AND prefix <= ? ORDER BY prefix, id LIMIT ?",
        key,
        id,
        last,
        groupRows,
      );
      if (rows.length > 0) yield rows.map(toRow);
      const end = rows.at(-1);
      if (end === undefined || rows.length < groupRows) return;
      [key, id] = [end.prefix as string, end.id as number];
      await nextTurn();
    }
  }
}

function whereOf(selector: RowSelector): { readonly where: string; readonly values: (string | number)[] } {
  if ("within" in selector) {
    const { first, last } = keysWithin(selector.within, false);
    return { where: "prefix BETWEEN ? AND ?", values: [first, last] };
  }
  if ("fromUpload" in selector)
    return { where: "id BETWEEN ? AND ?", values: [rowId(selector.fromUpload, 0), rowId(selector.toUpload + 1, 0) - 1] };
  if ("observedBefore" in selector) return { where: "observed_at < ?", values: [selector.observedBefore] };
  return { where: "observed_at IS NOT NULL ORDER BY observed_at", values: [] };
}

function valuesOf(upload: number, row: ObservationRow): (string | number | null)[] {
  const { line, prefix, country, region, city, latitude, longitude, accuracyKm, observedAt, method } = row;
  return [rowId(upload, line), prefixKey(prefix), country, region, city, latitude, longitude, accuracyKm, observedAt, method];
}

function toRow(row: Row): StoredRow {
  const id = row.id as number;
  const prefix: Prefix = prefixOfKey(row.prefix as string);
  return {
    upload: uploadOfRow(id),
    line: lineOfRow(id),
    prefix,
    country: row.country as string | null,
    region: row.region as string | null,
    city: row.city as string | null,
    latitude: row.latitude as number | null,
    longitude: row.longitude as number | null,
    accuracyKm: row.accuracy_km as number | null,
    observedAt: row.observed_at as number | null,
    method: row.method as string | null,
  };
}
