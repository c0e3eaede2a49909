/**
 * Uploaded observations in an SQLite file of their own: millions of rows do not belong in a copy of the keys, and their writes must not block others.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type BadLine, type ObservationStore, type UploadFormat, type UploadRecord, uploadNumberMax } from "../observation-repository.ts";
import { StoreError } from "../store-error.ts";
import type { Row, SqliteConnection } from "./connection.ts";
import { checkKind, type FileKind, migrateFile, openOwnFile } from "./own-file.ts";
import { SqliteObservationRows } from "./sqlite-observation-rows.ts";

/** Name of the file in the folder of an installation. */
export const observationsFile = "observations.sqlite";

/** "NFOB" */
const applicationId = 0x4e464f42;
const kind: FileKind = { applicationId, version: 1, name: "a Netfacts store of observations" };

const schema = `
  CREATE TABLE uploads (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    format TEXT NOT NULL CHECK (format IN ('ndjson', 'csv', 'geofeed')),
    source TEXT NOT NULL,
    key_id TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    stored_bytes INTEGER NOT NULL,
    checksum INTEGER,
    checksum_bytes INTEGER,
    lines INTEGER NOT NULL,
    rows INTEGER NOT NULL,
    bad INTEGER NOT NULL,
    bad_lines TEXT NOT NULL,
    header TEXT,
    complete INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE observations (
    id INTEGER PRIMARY KEY,
    prefix TEXT NOT NULL,
    country TEXT,
    region TEXT,
    city TEXT,
    latitude REAL,
    longitude REAL,
    accuracy_km REAL,
    observed_at INTEGER,
    method TEXT
  ) STRICT;
  CREATE INDEX observations_by_prefix ON observations (prefix);
  CREATE INDEX observations_by_time ON observations (observed_at) WHERE observed_at IS NOT NULL;
  CREATE TABLE state (revision INTEGER NOT NULL, row_count INTEGER NOT NULL) STRICT;
  INSERT INTO state VALUES (0, 0);
`;

const progressSql = `
  UPDATE uploads SET updated_at = ?, stored_bytes = ?, checksum = ?, checksum_bytes = ?, lines = ?, rows = ?, bad = ?, bad_lines = ?, header = ?, complete = ?
  WHERE number = ? AND stored_bytes = ? AND lines = ? AND complete = ?`;

const forgetSql = "DELETE FROM uploads WHERE number = ? AND stored_bytes = ? AND lines = ? AND complete = ?";

/**
 * Rows come in any order of prefix and time, so each row changes a page of both indexes, and every changed page is written as a whole, first to the
 * log and at a checkpoint to the file. Pages of 1 KiB and a checkpoint for each 64 MiB of log write a third of what SQLite's defaults write (800,000
 * rows: 6 KiB per row instead of 16), in a third of the time. The page size applies to new files; others keep theirs.
 */
const writeSettings = `
  PRAGMA page_size = 1024;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA cache_size = -32768;`;
const logBytes = 64 << 20;

/**
 * Opens the file as `openOwnFile`, and migrates its schema. Threads and processes may have it open at the same time; only one writes at a time.
 *
 * @throws StoreError
 */
export async function openSqliteObservations(path: string): Promise<ObservationStore> {
  return storeOn(await openOwnFile(path, writeSettings, prepare));
}

function prepare(connection: SqliteConnection): void {
  const pageBytes = Number(connection.get("PRAGMA page_size")?.page_size);
  connection.exec(`PRAGMA wal_autocheckpoint = ${logBytes / pageBytes}`);
  migrateFile(connection, kind, (version) => {
    if (version === 0) connection.exec(schema);
    // Added later. The version is unchanged: earlier programs can use the file, and leave these columns as they are.
    if (connection.get("SELECT 1 FROM pragma_table_info('uploads') WHERE name = 'checksum_bytes'") === undefined)
      connection.exec("ALTER TABLE uploads ADD COLUMN checksum INTEGER; ALTER TABLE uploads ADD COLUMN checksum_bytes INTEGER");
  });
}

/** As `checkKind`, for uploaded observations. */
export function checkIsObservations(connection: SqliteConnection): void {
  checkKind(connection, kind);
}

function storeOn(connection: SqliteConnection): ObservationStore {
  const rows = new SqliteObservationRows(connection);
  const find = (id: string): UploadRecord | null => {
    const row = connection.get("SELECT * FROM uploads WHERE id = ?", id);
    return row === undefined ? null : toUpload(row);
  };
  const changed = (added: number): void => {
    connection.run("UPDATE state SET revision = revision + 1, row_count = row_count + ?", added);
  };
  const numberOf = (sql: string): number | null => (connection.get(sql)?.value ?? null) as number | null;

  return {
    async begin({ id, format, source, keyId }, at) {
      return connection.transaction(() => {
        const known = find(id);
        if (known !== null) return known;
        connection.run(
          `INSERT INTO uploads (id, format, source, key_id, created_at, updated_at, stored_bytes, checksum, checksum_bytes, lines, rows, bad, bad_lines, header, complete)
           VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, '[]', NULL, 0)`,
          id,
          format,
          source,
          keyId,
          at,
          at,
        );
        const made = find(id) as UploadRecord;
        if (made.number > uploadNumberMax) throw new StoreError("full", connection.path, "has no number left for another upload");
        return made;
      });
    },

    async find(id) {
      return find(id);
    },

    async uploads(limit, before = Number.MAX_SAFE_INTEGER) {
      return connection.all("SELECT * FROM uploads WHERE number < ? ORDER BY number DESC LIMIT ?", before, limit).map(toUpload);
    },

    async uploadCount() {
      return numberOf("SELECT count(*) AS value FROM uploads") ?? 0;
    },

    async store(upload, stored, progress, at) {
      const store = (): boolean => {
        const { offset, checksum, lines, rows: good, bad, badLines, header, complete } = progress;
        const updated = connection.run(
          progressSql,
          at,
          offset,
          checksum,
          offset,
          lines,
          good,
          bad,
          JSON.stringify(badLines),
          header,
          complete ? 1 : 0,
          upload.number,
          upload.offset,
          upload.lines,
          upload.complete ? 1 : 0,
        );
        if (updated !== 1) return false;
        const inserted = rows.insert(upload.number, stored);
        if (inserted > 0) changed(inserted);
        return true;
      };
      // An upload that is reported as complete must survive a power failure: this syncs the whole log to the disk.
      const done = progress.complete ? connection.durablyAtOnce(store) : connection.transaction(store);
      // Gives the thread to other work between two batches.
      await nextTurn();
      return done ? { ...upload, ...progress, updatedAt: at } : null;
    },

    async forget(number, asRead) {
      if (asRead === undefined) connection.run("DELETE FROM uploads WHERE number = ?", number);
      else connection.run(forgetSql, number, asRead.offset, asRead.lines, asRead.complete ? 1 : 0);
      return connection.get("SELECT 1 FROM uploads WHERE number = ?", number) === undefined;
    },

    async revision() {
      return numberOf("SELECT revision AS value FROM state") ?? 0;
    },

    async rowCount() {
      return numberOf("SELECT row_count AS value FROM state") ?? 0;
    },

    async hasRows(number) {
      return rows.hasAny(number);
    },

    async newest() {
      return rows.newest();
    },

    all: () => rows.all(),
    about: (prefix) => rows.about(prefix),

    async remove(selector, limit) {
      const removed = connection.transaction(() => {
        const count = rows.remove(selector, limit);
        if (count > 0) changed(-count);
        return count;
      });
      await nextTurn();
      return removed;
    },

    async close() {
      connection.close();
    },
  };
}

function toUpload(row: Row): UploadRecord {
  return {
    number: row.number as number,
    id: row.id as string,
    format: row.format as UploadFormat,
    source: row.source as string,
    keyId: row.key_id as string | null,
    createdAt: row.created_at as number,
    updatedAt: row.updated_at as number,
    offset: row.stored_bytes as number,
    checksum: row.checksum_bytes === row.stored_bytes ? (row.checksum as number | null) : null,
    lines: row.lines as number,
    rows: row.rows as number,
    bad: row.bad as number,
    badLines: JSON.parse(row.bad_lines as string) as BadLine[],
    header: row.header as string | null,
    complete: row.complete === 1,
  };
}
