/** One connection to the SQLite file: settings, transactions, and every failure as a StoreError. */

import { statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError, type StoreFault } from "../store-error.ts";

/** A write waits this long for another process's write. */
export const busyTimeoutMs = 2_000;
/** Wait of SQLite itself once the store is open; it blocks the event loop. Writes of other processes take a few ms. */
export const eventLoopWaitMs = 100;
/** After a write that waited in vain, no other is tried for this time: the event loop has half of the time for everything else. */
const lockedMs = eventLoopWaitMs;

export type Row = Record<string, SQLOutputValue>;

/** Primary result codes of SQLite that are distinguished (sqlite.org/rescode.html). */
const faults: Readonly<Record<number, StoreFault>> = {
  3: "readonly", // PERM
  5: "locked", // BUSY
  6: "locked", // LOCKED
  8: "readonly", // READONLY
  10: "unavailable", // IOERR
  11: "damaged", // CORRUPT
  13: "full", // FULL
  14: "unavailable", // CANTOPEN
  26: "damaged", // NOTADB
};
/** IOERR_SHMSIZE: no space for the shared-memory index next to the file, as when opening on a full disk. */
const noRoomBeside = 4_874;

export class SqliteConnection {
  readonly path: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #monotonic: () => number;
  /** Identity of the file that was opened; null: in memory. */
  readonly #opened: string | null;
  #lockedUntil = Number.NEGATIVE_INFINITY;
  /** The last write that `patiently` was called for. Never rejects. */
  #lastTurn: Promise<unknown> = Promise.resolve();

  /**
   * @param monotonic  clock in ms; tests set it.
   * @throws StoreError
   */
  constructor(path: string, monotonic: () => number = () => performance.now()) {
    this.path = path;
    this.#monotonic = monotonic;
    this.#database = this.#guard(() => new DatabaseSync(path, { timeout: busyTimeoutMs }));
    this.#opened = fileAt(path);
  }

  exec(sql: string): void {
    this.#guard(() => this.#database.exec(sql));
  }

  get(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#guard(() => this.#prepare(sql).get(...values));
  }

  /**
   * The only row of a statement that may also write. Runs the statement to its end: with RETURNING the row comes before the commit, and `get` of
   * node:sqlite would not report a commit that fails (a full disk).
   */
  getNamed(sql: string, values: Record<string, SQLInputValue>): Row | undefined {
    return this.#guard(() => this.#prepare(sql).all(values)[0]);
  }

  all(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.#guard(() => this.#prepare(sql).all(...values));
  }

  /** @returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number {
    return this.#guard(() => Number(this.#prepare(sql).run(...values).changes));
  }

  /** Runs the work in one write transaction; any throw rolls it back. */
  transaction<T>(work: () => T): T {
    this.#checkPlace();
    this.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#database.isOpen && this.#database.isTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  /**
   * A write transaction that survives a power failure. Others survive only the end of the process, which is enough for leases and avoids a disk sync
   * on the event loop for each.
   */
  durably<T>(work: () => T): Promise<T> {
    return this.patiently(() => this.durablyAtOnce(work));
  }

  /** As `durably`, in this turn of the event loop, which blocks while other writers are busy. */
  durablyAtOnce<T>(work: () => T): T {
    this.exec("PRAGMA synchronous = FULL");
    try {
      return this.transaction(work);
    } finally {
      this.exec("PRAGMA synchronous = NORMAL");
    }
  }

  /**
   * Runs work that writes, for a caller that cannot wait. While another process locks the file, one write waits for it for 100 ms, which blocks the
   * event loop. For the next 100 ms all writes fail at once.
   *
   * @throws StoreError `locked`; then the work has changed nothing.
   */
  unlessLocked<T>(work: () => T): T {
    if (this.#monotonic() < this.#lockedUntil) throw new StoreError("locked", this.path, "database is locked");
    this.#checkPlace();
    try {
      return work();
    } catch (error) {
      if (isLocked(error)) this.#lockedUntil = this.#monotonic() + lockedMs;
      throw error;
    }
  }

  /**
   * As `unlessLocked`, for a caller that waits: tries for two seconds, and leaves the event loop to others between attempts. Writes are done in the
   * order of the calls.
   */
  patiently<T>(work: () => T): Promise<T> {
    const deadline = this.#monotonic() + busyTimeoutMs;
    const turn = this.#lastTurn.then(() => this.#tryUntil(deadline, work));
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  async #tryUntil<T>(deadline: number, work: () => T): Promise<T> {
    for (;;) {
      try {
        return this.unlessLocked(work);
      } catch (error) {
        if (!isLocked(error) || this.#monotonic() >= deadline) throw error;
        await sleep(Math.max(1, this.#lockedUntil - this.#monotonic()));
      }
    }
  }

  close(): void {
    this.#statements.clear();
    if (this.#database.isOpen) this.#database.close();
  }

  /**
   * Refuses to write to a file that is no longer at its path: nobody would find what is written. SQLite's own check
   * (SQLITE_READONLY_DBMOVED) covers only files without a write-ahead log.
   */
  #checkPlace(): void {
    if (this.#opened === null || fileAt(this.path) === this.#opened) return;
    const fault = "was moved, removed or replaced while this program has it open";
    throw new StoreError("readonly", this.path, fault, undefined, "put it back, or stop this program and start it again");
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asStoreError(this.path, error);
    }
  }
}

/** Identity of the file at this path, equal for the same file only; null if there is none, or it cannot be seen. */
function fileAt(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof StoreError && error.fault === "locked";
}

/** Errors of node:sqlite become StoreErrors; our own faults (bad SQL, a violated constraint) stay unchanged. */
function asStoreError(path: string, error: unknown): unknown {
  const { code, errcode, message } = error as { code?: unknown; errcode?: unknown; message?: unknown };
  if (code === "ERR_INVALID_STATE") return new StoreError("closed", path, "is closed", error);
  if (code !== "ERR_SQLITE_ERROR" || typeof errcode !== "number") return error;
  if (errcode === noRoomBeside) return new StoreError("full", path, "database or disk is full", error);
  const fault = faults[errcode & 0xff];
  return fault === undefined ? error : new StoreError(fault, path, String(message), error);
}
