/** The shared store of the one-process form: a file that outlives the process. */

import { chmodSync, existsSync, rmSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { SharedStore, SharedStoreOptions } from "./shared-store.ts";

export interface SqliteStoreOptions extends SharedStoreOptions {
  readonly path: string;
  /** Unix milliseconds. */
  readonly clock: { now(): number };
  /** Time after a fault until the file is opened again, in ms. Default: a minute. */
  readonly retryMs?: number;
}

const retryMsDefault = 60_000;
/** Interval of writes: texts are written together, so that they share the cost of a transaction. */
const flushMs = 50;
const pendingMax = 200;
const textBytesMax = 64 * 1024;
/** Estimated size of a row without its key and text. */
const rowBytes = 120;
/** The size of a row, as `sizeOf` computes it. */
const rowSize = `(length(CAST(text AS BLOB)) + length(key) + ${rowBytes})`;
/** Share that is removed when the file is full, so that this is not necessary for each text. */
const evictedShare = 0.1;

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = OFF;
  CREATE TABLE IF NOT EXISTS texts (number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, put_at INTEGER NOT NULL, text TEXT NOT NULL);
`;

/** Opens a file that only its owner may read. Never throws: an unusable file is replaced; if that fails, nothing is stored until a later retry. */
export function openSqliteStore(options: SqliteStoreOptions): SharedStore {
  return new SqliteStore(options);
}

interface Statements {
  readonly find: StatementSync;
  readonly put: StatementSync;
  readonly sizeBefore: StatementSync;
  readonly sizeOfAll: StatementSync;
  readonly cut: StatementSync;
  readonly sizeUpTo: StatementSync;
  readonly evict: StatementSync;
  readonly expire: StatementSync;
}

class SqliteStore implements SharedStore {
  readonly #options: SqliteStoreOptions;
  #database: DatabaseSync | null = null;
  #statements: Statements | null = null;
  readonly #pending = new Map<string, { readonly text: string; readonly putAt: number }>();
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  /** On the clock of `performance.now()`. */
  #retryAt = Number.POSITIVE_INFINITY;

  constructor(options: SqliteStoreOptions) {
    this.#options = options;
    this.#open(true);
  }

  async get(key: string): Promise<string | null> {
    const pending = this.#pending.get(key);
    if (pending !== undefined) return pending.text;
    this.#retry();
    if (this.#statements === null) throw new Error("the file of the cache cannot be used");
    try {
      const row = this.#statements.find.get(key, this.#oldest());
      return row === undefined ? null : String(row.text);
    } catch (error) {
      this.#fail(error as Error);
      throw error;
    }
  }

  put(key: string, text: string): void {
    this.#retry();
    if (this.#statements === null || Buffer.byteLength(text) > textBytesMax) return;
    this.#pending.set(key, { text, putAt: this.#options.clock.now() });
    if (this.#pending.size >= pendingMax) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), flushMs);
  }

  async close(): Promise<void> {
    this.#flush();
    this.#retryAt = Number.POSITIVE_INFINITY;
    this.#statements = null;
    this.#database?.close();
    this.#database = null;
  }

  #oldest(): number {
    return this.#options.clock.now() - this.#options.ageMaxSeconds * 1_000;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const [database, statements] = [this.#database, this.#statements];
    const texts = [...this.#pending];
    this.#pending.clear();
    if (database === null || statements === null || texts.length === 0) return;
    try {
      database.exec("BEGIN");
      for (const [key, { text, putAt }] of texts) {
        this.#bytes += sizeOf(key, text) - Number(statements.sizeBefore.get(key)?.bytes ?? 0);
        statements.put.run(key, putAt, text);
      }
      if (this.#bytes > this.#options.bytesMax) this.#makeRoom(statements);
      database.exec("COMMIT");
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  /** Removes the oldest texts, which include all that are too old. */
  #makeRoom({ cut, sizeUpTo, evict }: Statements): void {
    while (this.#bytes > this.#options.bytesMax) {
      const last = cut.get(evictedShare)?.number ?? null;
      if (last === null) break;
      this.#bytes -= Number(sizeUpTo.get(last)?.bytes ?? 0);
      evict.run(last);
    }
  }

  #retry(): void {
    if (this.#statements !== null || performance.now() < this.#retryAt) return;
    this.#retryAt = Number.POSITIVE_INFINITY;
    this.#open(true);
  }

  /** Closes the file after an error, such as a full disk. Nothing is stored until it is opened again. */
  #fail(error: Error): void {
    this.#options.onFault(error.message);
    this.#retryAt = performance.now() + (this.#options.retryMs ?? retryMsDefault);
    this.#statements = null;
    this.#pending.clear();
    try {
      this.#database?.close();
    } catch {
      // The database is not used any more.
    }
    this.#database = null;
  }

  #open(mayRemove: boolean): void {
    const { path } = this.#options;
    try {
      const database = new DatabaseSync(path);
      this.#database = database;
      // The file names addresses that clients asked about. SQLite's own logs get the mode of the file.
      for (const file of filesOf(path)) if (existsSync(file)) chmodSync(file, 0o600);
      database.exec(schema);
      this.#statements = {
        find: database.prepare("SELECT text FROM texts WHERE key = ? AND put_at >= ?"),
        put: database.prepare("INSERT OR REPLACE INTO texts (key, put_at, text) VALUES (?, ?, ?)"),
        sizeBefore: database.prepare(`SELECT ${rowSize} AS bytes FROM texts WHERE key = ?`),
        sizeOfAll: database.prepare(`SELECT sum(${rowSize}) AS bytes FROM texts`),
        cut: database.prepare("SELECT min(number) + CAST(max(1, (max(number) - min(number)) * ?) AS INTEGER) AS number FROM texts"),
        sizeUpTo: database.prepare(`SELECT sum(${rowSize}) AS bytes FROM texts WHERE number <= ?`),
        evict: database.prepare("DELETE FROM texts WHERE number <= ?"),
        expire: database.prepare("DELETE FROM texts WHERE put_at < ?"),
      };
      this.#statements.expire.run(this.#oldest());
      this.#bytes = Number(this.#statements.sizeOfAll.get()?.bytes ?? 0);
    } catch (error) {
      this.#fail(error as Error);
      if (!mayRemove) return;
      // Replace a damaged file.
      try {
        for (const file of filesOf(path)) rmSync(file, { force: true });
      } catch {
        return;
      }
      this.#open(false);
    }
  }
}

function filesOf(path: string): string[] {
  return ["", "-wal", "-shm"].map((suffix) => `${path}${suffix}`);
}

function sizeOf(key: string, text: string): number {
  return Buffer.byteLength(text) + key.length + rowBytes;
}
