/** The clients of one database: settings, deadlines, and every failure as a StoreError. */

import { type Db, MongoClient, type MongoClientOptions, MongoParseError } from "mongodb";
import { StoreError } from "../store-error.ts";
import { LastingClient } from "./mongo-client.ts";
import { asStoreError, mongoFault } from "./mongo-faults.ts";
import { Pulse } from "./mongo-pulse.ts";
import { badUri, readMongoUri } from "./mongo-uri.ts";

/** Limits are asked for while a caller waits. */
export const limitsTimeoutMs = 500;
/** So are keys, which are cached. */
export const keyReadTimeoutMs = 1_000;
/** Everything else; who waits for it waits no longer than the server gives signs of life. */
export const operationTimeoutMs = 5_000;
/** A document that is still not valid is reported again after this time. */
const reportAgainMs = 3_600_000;
const reportedMax = 1_000;
/** Far more often than this a busy gateway uses each of its connections. */
const maxIdleMs = 5_000;
/** A connection with TLS, and one heartbeat. */
const connectTimeoutMs = 2_000;
/** Shorter than an operation's time, as its failure says why no server was found. */
const serverSelectionTimeoutMs = 3_000;

/**
 * `timeoutMS` does nothing since driver 7.8, and before 7.8 it could give one operation the reply of another (CVE-2026-119179). So each
 * stage of an operation has its bound here, and `within` bounds their sum.
 */
function clientOptions(appName: string, timeoutMs: number, maxPoolSize: number, minPoolSize: number): MongoClientOptions {
  return {
    appName,
    // The driver repeats a write whose reply was lost. Servers that know sessions recognise the second; others would add an $inc twice.
    retryWrites: false,
    writeConcern: { w: "majority", journal: true },
    readPreference: "primary",
    maxPoolSize,
    minPoolSize,
    serverSelectionTimeoutMS: Math.min(timeoutMs, serverSelectionTimeoutMs),
    connectTimeoutMS: connectTimeoutMs,
    socketTimeoutMS: timeoutMs,
    // A connection that died without a word costs whoever gets it next a deadline: those that lay idle are not handed out.
    maxIdleTimeMS: maxIdleMs,
    waitQueueTimeoutMS: timeoutMs,
    // A server that comes back is seen within this time; requests that wait for it ask sooner.
    heartbeatFrequencyMS: 2_000,
    ignoreUndefined: true,
  };
}

export class MongoConnection {
  /** The URI as it may be shown. */
  readonly shown: string;
  /** Each operation may take so many times as long as is usual. */
  readonly patience: number;
  readonly #main: LastingClient;
  readonly #limits: LastingClient;
  readonly #pulse: Pulse;
  readonly #onInvalid: (error: StoreError) => void;
  /** What was reported, and when: ms of `performance.now()`. */
  readonly #reported = new Map<string, number>();
  #closed = false;

  /** Does not connect yet. @throws StoreError for a URI that is none. */
  constructor(uri: string, appName: string, patience = 1, onInvalid: (error: StoreError) => void = () => {}) {
    const { shown, database } = readMongoUri(uri);
    this.shown = shown;
    this.patience = patience;
    this.#onInvalid = onInvalid;
    const make = (timeoutMs: number, maxPoolSize: number, minPoolSize: number) => () =>
      makeClient(uri, shown, clientOptions(appName, timeoutMs * patience, maxPoolSize, minPoolSize));
    this.#main = new LastingClient(make(operationTimeoutMs, 20, 1), database);
    // The first request of a key after a quiet time asks for rate and month at once, and waits for no connection.
    this.#limits = new LastingClient(make(limitsTimeoutMs, 50, 2), database);
    this.#pulse = new Pulse(() => this.limitsWithin(limitsTimeoutMs, () => this.limitsDb.command({ ping: 1 })), patience);
  }

  /** To be asked for anew by each operation. */
  get db(): Db {
    return this.#main.db;
  }

  /** Of a client of its own: its sockets are given up after 500 ms, and slow work of others never makes a lease wait. */
  get limitsDb(): Db {
    return this.#limits.db;
  }

  /** One attempt, of at most `operationTimeoutMs`. */
  async connect(): Promise<void> {
    for (const client of [this.#main, this.#limits]) {
      await this.#bounded(operationTimeoutMs, () => client.connect(client === this.#limits ? operationTimeoutMs : 0));
    }
  }

  /**
   * Runs one operation that somebody waits for: as `within`, and not longer than the server gives signs of life. While it is silent
   * nothing is sent.
   */
  async asked<T>(work: () => Promise<T>, timeoutMs = operationTimeoutMs): Promise<T> {
    const silent = (): StoreError => mongoFault("unavailable", this.shown, "does not answer");
    if (this.#pulse.isSilent) throw silent();
    const { promise: silence, reject } = Promise.withResolvers<never>();
    const end = this.#pulse.watch(() => reject(silent()));
    try {
      return await Promise.race([this.within(timeoutMs, work), silence]);
    } finally {
      end();
    }
  }

  /**
   * Runs one operation and waits for it at most so long. One that is late goes on and may still take effect: its outcome is unknown.
   *
   * @throws StoreError; what `isDuplicateKey` knows is thrown as it is.
   */
  async within<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
    return await this.#operate(this.#main, timeoutMs, work);
  }

  /** The same for an operation on `limitsDb`. */
  async limitsWithin<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
    return await this.#operate(this.#limits, timeoutMs, work);
  }

  async #operate<T>(client: LastingClient, timeoutMs: number, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#bounded(timeoutMs * this.patience, async () => {
        const answer = await client.watch(work);
        this.#pulse.heard();
        return answer;
      });
    } catch (error) {
      if (error instanceof StoreError) client.failed();
      throw error;
    }
  }

  async #bounded<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw mongoFault("closed", this.shown, "is closed");
    const { promise: late, reject } = Promise.withResolvers<never>();
    const tell = () => reject(mongoFault("unavailable", this.shown, `no response within ${Math.round(timeoutMs)} ms`));
    // A late event loop runs its timers before it reads: a reply that has arrived meanwhile is read first.
    const timer = setTimeout(() => setImmediate(tell), timeoutMs);
    try {
      return await Promise.race([work(), late]);
    } catch (error) {
      throw error instanceof StoreError ? error : asStoreError(this.shown, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The error of a document that is not valid. It is reported once, not at each request that reads the document. */
  invalid(explanation: string): StoreError {
    const error = mongoFault("invalid", this.shown, explanation);
    const now = performance.now();
    if (now - (this.#reported.get(explanation) ?? Number.NEGATIVE_INFINITY) >= reportAgainMs) {
      if (this.#reported.size >= reportedMax) this.#reported.clear();
      this.#reported.set(explanation, now);
      this.#onInvalid(error);
    }
    return error;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#pulse.close();
    await Promise.all([this.#main.close(), this.#limits.close()]);
  }
}

function makeClient(uri: string, shown: string, options: MongoClientOptions): MongoClient {
  try {
    return new MongoClient(uri, options);
  } catch (error) {
    // Its message may repeat parts of the URI, and so may the cause.
    if (error instanceof MongoParseError || (error as Error).name === "MongoInvalidArgumentError") {
      throw badUri("has a URI with an option that the driver does not accept", shown);
    }
    throw badUri("has a URI that the driver cannot read", shown);
  }
}
