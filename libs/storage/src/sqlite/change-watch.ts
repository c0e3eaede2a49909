/** Detects key changes by other processes: `PRAGMA data_version` changes with each commit of another connection. */

import { StoreError } from "../store-error.ts";
import type { SqliteConnection } from "./connection.ts";

const intervalMs = 200;

/** Polls only while there is a listener, and never keeps the process alive. Cost of a poll without changes: one read of shared memory. */
export class ChangeWatch {
  readonly #connection: SqliteConnection;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;
  #dataVersion: unknown;
  #revision: unknown;
  #reachable = true;

  constructor(connection: SqliteConnection) {
    this.#connection = connection;
  }

  listen(listener: () => void): () => void {
    if (this.#timer === null) {
      this.#dataVersion = undefined;
      this.#revision = this.#connection.get("SELECT revision FROM key_revision")?.revision;
      this.#timer = setInterval(() => this.#poll(), intervalMs).unref();
    }
    // Wrapped, so that one function can listen twice and end once.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  stop(): void {
    this.#listeners.clear();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #poll(): void {
    try {
      const changed = this.#readRevision();
      const back = !this.#reachable;
      this.#reachable = true;
      if (changed || back) this.notify();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const lost = this.#reachable;
      this.#reachable = false;
      if (lost) this.notify();
    }
  }

  /** Whether a key was written since the last poll; leases and runs change `data_version` too, and are ignored. */
  #readRevision(): boolean {
    const dataVersion = this.#connection.get("PRAGMA data_version")?.data_version;
    if (dataVersion === this.#dataVersion) return false;
    const revision = this.#connection.get("SELECT revision FROM key_revision")?.revision;
    const changed = revision !== this.#revision;
    this.#dataVersion = dataVersion;
    this.#revision = revision;
    return changed;
  }
}
