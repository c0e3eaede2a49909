/** One client of the driver, and another in its place when the driver has lost it. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Db, MongoClient } from "mongodb";

/** Heartbeats begin within `heartbeatFrequencyMS` of the last one, and end within twice `connectTimeoutMS`: 2 s and 4 s. */
const silenceMaxMs = 5_000;
/** More than the stages of any operation may take together. */
const unsettledMaxMs = 20_000;
const retryMs = 250;

/**
 * Driver 7.9 may wait for ever for a socket that its server has ended, when it writes to it in the moment before the socket closes: no
 * time-out of its own ends that. If it was a heartbeat, the server stays unknown to the client for as long as the process lives; if it was
 * an operation, its place in the pool is gone. Both are seen here, and mended by a new client.
 */
export class LastingClient {
  readonly #make: () => MongoClient;
  readonly #database: string;
  #client: MongoClient;
  #db: Db;
  /** Server → when its last heartbeat began or ended. */
  #heardAt = new Map<string, number>();
  /** Operations that are under way → when they began. */
  #running = new Map<symbol, number>();
  #isReplacing = false;
  #closed = false;

  /** @param make  a new client with the same settings each time; it does not connect yet. */
  constructor(make: () => MongoClient, database: string) {
    this.#make = make;
    this.#database = database;
    this.#client = make();
    this.#db = this.#use(this.#client);
  }

  /** Of the client that is in use now: to be asked for anew by each operation. */
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

  /** To be called when an operation failed: a client that was lost is replaced, which takes as long as connecting does. */
  failed(): void {
    const now = performance.now();
    const isSilent = [...this.#heardAt.values()].some((at) => now - at > silenceMaxMs);
    // Began first: the oldest.
    const [oldest = now] = this.#running.values();
    if ((isSilent || now - oldest > unsettledMaxMs) && !this.#isReplacing) void this.#replace();
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
    // What is still under way on it has failed for whoever waited.
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
