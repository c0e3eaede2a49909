/** The clients of one database: settings, deadlines, and every failure as a StoreError. */

import { type Db, MongoClient, type MongoClientOptions } from "mongodb";
import { StoreError } from "../store-error.ts";
import { LastingClient } from "./mongo-client.ts";
import { asStoreError, mongoFault } from "./mongo-faults.ts";
import { Pulse } from "./mongo-pulse.ts";
import { badUri, optionsNamedIn, readMongoUri } from "./mongo-uri.ts";

/** For operations on limits: a caller waits for them. */
export const limitsTimeoutMs = 500;
/** For reads of keys: a caller waits for them too, but keys are cached. */
export const keyReadTimeoutMs = 1_000;
/** For everything else. A caller of `asked` waits only while the server shows signs of life. */
export const operationTimeoutMs = 5_000;
/** An invalid document that stays invalid is reported again after this time. */
const reportAgainMs = 3_600_000;
const reportedMax = 1_000;
/** A busy gateway uses each of its connections far more often than this. */
const maxIdleMs = 5_000;
/** For a connection with TLS, and for one heartbeat. */
const connectTimeoutMs = 2_000;
/** Shorter than the time of an operation: its failure says why no server was found. */
const serverSelectionTimeoutMs = 3_000;

/**
 * `timeoutMS` has no effect since driver 7.8, and before 7.8 it could give one operation the reply of another (CVE-2026-119179). So each stage of an
 * operation has its limit here, and `within` limits their sum.
 */
function clientOptions(appName: string, timeoutMs: number, patience: number, maxPoolSize: number, minPoolSize: number): MongoClientOptions {
  return {
    appName,
    // The driver would repeat a write whose reply was lost. Servers with sessions recognise the repetition; others would apply an $inc twice.
    retryWrites: false,
    // Not `writeConcern`, which options of the URI override.
    w: "majority",
    journal: true,
    readPreference: "primary",
    maxPoolSize,
    minPoolSize,
    serverSelectionTimeoutMS: Math.min(timeoutMs, serverSelectionTimeoutMs),
    connectTimeoutMS: connectTimeoutMs * patience,
    socketTimeoutMS: timeoutMs,
    // A connection that died silently costs its next user a deadline, so idle ones are not used again.
    maxIdleTimeMS: maxIdleMs,
    waitQueueTimeoutMS: timeoutMs,
    // A server that comes back is noticed within this time; requests that wait for it check sooner.
    heartbeatFrequencyMS: 2_000,
    ignoreUndefined: true,
  };
}

export class MongoConnection {
  /** The URI for messages, without secrets. */
  readonly shown: string;
  /** Factor for the time limits of each operation and heartbeat. */
  readonly patience: number;
  readonly #main: LastingClient;
  readonly #limits: LastingClient;
  readonly #pulse: Pulse;
  readonly #onInvalid: (error: StoreError) => void;
  /** Reported text → time of the report, in ms of `performance.now()`. */
  readonly #reported = new Map<string, number>();
  /** The server's last refusal of our login or of an operation; null: an operation has succeeded since. */
  #refusal: StoreError | null = null;
  #closed = false;

  /** Does not connect yet. @throws StoreError for an invalid URI. */
  constructor(uri: string, appName: string, patience = 1, onInvalid: (error: StoreError) => void = () => {}) {
    const { shown, database } = readMongoUri(uri);
    this.shown = shown;
    this.patience = patience;
    this.#onInvalid = onInvalid;
    const make = (timeoutMs: number, maxPoolSize: number, minPoolSize: number) => () =>
      makeClient(uri, shown, clientOptions(appName, timeoutMs * patience, patience, maxPoolSize, minPoolSize));
    this.#main = new LastingClient(make(operationTimeoutMs, 20, 1), database, patience);
    // Two connections at least: the first request of a key after a quiet time asks for rate and month at once, and must not wait for a connection.
    this.#limits = new LastingClient(make(limitsTimeoutMs, 50, 2), database, patience);
    this.#pulse = new Pulse(() => this.limitsWithin(limitsTimeoutMs, () => this.limitsDb.command({ ping: 1 })), patience);
  }

  /** Database of the current client: read it again for each operation. */
  get db(): Db {
    return this.#main.db;
  }

  /** Database of a client of its own: its sockets time out after 500 ms, and slow work of others never delays a lease. */
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
   * Runs one operation that a caller waits for: as `within`, but only while the server shows signs of life. If the server is silent, nothing is sent.
   */
  async asked<T>(work: () => Promise<T>, timeoutMs = operationTimeoutMs): Promise<T> {
    const silent = (): StoreError => this.#refusal ?? mongoFault("unavailable", this.shown, "does not answer");
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
   * Runs one operation and waits for it for at most this time. A late operation goes on and may still take effect: its outcome is unknown.
   *
   * @throws StoreError; errors that `isDuplicateKey` recognises are thrown unchanged.
   */
  async within<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
    return await this.#operate(this.#main, timeoutMs, work);
  }

  /** As `within`, for an operation on `limitsDb`. */
  async limitsWithin<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
    return await this.#operate(this.#limits, timeoutMs, work);
  }

  async #operate<T>(client: LastingClient, timeoutMs: number, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#bounded(timeoutMs * this.patience, async () => {
        const answer = await client.watch(work);
        this.#refusal = null;
        this.#pulse.heard();
        return answer;
      });
    } catch (error) {
      if (error instanceof StoreError) {
        if (error.fault === "readonly") this.#refusal = error;
        client.failed();
      }
      throw error;
    }
  }

  async #bounded<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw mongoFault("closed", this.shown, "is closed");
    const { promise: late, reject } = Promise.withResolvers<never>();
    // After a refused login the driver counts the server as away, and other operations wait for it in vain.
    const tell = () => reject(this.#refusal ?? mongoFault("unavailable", this.shown, `no response within ${Math.round(timeoutMs)} ms`));
    // A late event loop runs its timers before it reads: a reply that has arrived meanwhile must be read first.
    const timer = setTimeout(() => setImmediate(tell), timeoutMs);
    try {
      return await Promise.race([work(), late]);
    } catch (error) {
      throw error instanceof StoreError ? error : asStoreError(this.shown, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** The error of an invalid document. It is reported once, not at each request that reads the document. */
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

const uriRemedy = "correct MONGODB_URI: mongodb.com/docs/manual/reference/connection-string-options lists the names and values of options";

function makeClient(uri: string, shown: string, options: MongoClientOptions): MongoClient {
  try {
    return new MongoClient(uri, options);
  } catch (error) {
    // The message may repeat parts of the URI, and so may the cause.
    const names = optionsNamedIn((error as Error).message, uri);
    const what = names.length === 0 ? "hosts or options" : `the option${names.length === 1 ? "" : "s"} ${names.join(", ")}`;
    throw badUri(`has a URI with ${what} that the driver does not accept`, shown, uriRemedy);
  }
}
