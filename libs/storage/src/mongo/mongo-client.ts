/** One client of the driver, which is replaced by another when the driver has lost it. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Db, MongoClient } from "mongodb";

/** A heartbeat begins at most `heartbeatFrequencyMS` after the last one, and ends within twice `connectTimeoutMS`: 2 s and 4 s. */
const silenceMaxMs = 5_000;
/** More than all stages of any operation may take together. */
const unsettledMaxMs = 20_000;
const retryMs = 250;

/**
 * Driver 7.9 may wait for ever for a socket that its server has ended, if it writes to it in the moment before the socket closes: none of its
 * time-outs ends that. If it was a heartbeat, the server stays unknown to the client for the life of the process; if it was an operation, its place
 * in the pool is lost. This class detects both, and fixes them with a new client.
 */
export class LastingClient {
  readonly #make: () => MongoClient;
  readonly #database: string;
  readonly #patience: number;
  #client: MongoClient;
  #db: Db;
  /** Server → time at which its last heartbeat began or ended. */
  #heardAt = new Map<string, number>();
  /** Running operations → time at which they began. */
  #running = new Map<symbol, number>();
  #isReplacing = false;
  #closed = false;

  /**
   * @param make  makes a new client, each time with the same settings; it does not connect yet.
   * @param patience  factor for all times.
   */
  constructor(make: () => MongoClient, database: string, patience: number) {
    this.#patience = patience;
    this.#make = make;
    this.#database = database;
    this.#client = make();
    this.#db = this.#use(this.#client);
  }

  /** Database of the current client: read it again for each operation. */
  get db(): Db {
    return this.#db;
  }

  /** Tries until the time is over: a client whose first connection failed stays closed until it is told to connect again. */
  async connect(withinMs: number): Promise<void> {
    for (const deadline = performance.now() + withinMs; ; ) {
      try {
        await this.#client.connect();
        return;
      } catch (error) {
        if (this.#closed || performance.now() > deadline) throw error;
      }
    }
  }

  /** Watches an operation to its end. */
  async watch<T>(work: () => Promise<T>): Promise<T> {
    const running = this.#running;
    const key = Symbol();
    running.set(key, performance.now());
    try {
      return await work();
    } finally {
      running.delete(key);
    }
  }

  /** Call when an operation failed: replaces a client that was lost, which takes as long as connecting does. */
  failed(): void {
    const now = performance.now();
    const isSilent = [...this.#heardAt.values()].some((at) => now - at > silenceMaxMs * this.#patience);
    // Insertion order: the first one is the oldest.
    const [oldest = now] = this.#running.values();
    if ((isSilent || now - oldest > unsettledMaxMs * this.#patience) && !this.#isReplacing) void this.#replace();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client.close();
  }

  async #replace(): Promise<void> {
    this.#isReplacing = true;
    const next = this.#make();
    let isConnected = false;
    while (!isConnected && !this.#closed) {
      isConnected = await next.connect().then(
        () => true,
        () => false,
      );
      if (!isConnected) await sleep(retryMs);
    }
    this.#isReplacing = false;
    const lost = this.#closed ? next : this.#client;
    if (!this.#closed) {
      this.#client = next;
      this.#db = this.#use(next);
    }
    // Operations that still run on the old client have already failed for their callers.
    await lost.close().catch(() => undefined);
  }

  #use(client: MongoClient): Db {
    const heardAt = new Map<string, number>();
    this.#heardAt = heardAt;
    this.#running = new Map();
    const hear = ({ connectionId }: { readonly connectionId: string }): void => void heardAt.set(connectionId, performance.now());
    client.on("serverHeartbeatStarted", hear).on("serverHeartbeatSucceeded", hear).on("serverHeartbeatFailed", hear);
    client.on("serverClosed", ({ address }) => void heardAt.delete(address));
    return client.db(this.#database);
  }
}
