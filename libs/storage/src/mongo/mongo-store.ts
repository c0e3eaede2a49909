/** The store in a database that speaks MongoDB's protocol, shared by the processes of many machines. */

import { setTimeout as sleep } from "node:timers/promises";
import type { ObservationRepository } from "../observation-repository.ts";
import type { Store } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { mongoAudit } from "./mongo-audit.ts";
import { mongoBootstrap } from "./mongo-bootstrap.ts";
import { MongoConnection } from "./mongo-connection.ts";
import { mongoIdempotency } from "./mongo-idempotency.ts";
import { mongoKeys } from "./mongo-keys.ts";
import { mongoLeases } from "./mongo-leases.ts";
import { mongoLimits } from "./mongo-limits.ts";
import { mongoObservations } from "./mongo-observations.ts";
import { mongoPlans } from "./mongo-plans.ts";
import { mongoProfiles } from "./mongo-profiles.ts";
import { mongoRuns } from "./mongo-runs.ts";
import { prepareSchema } from "./mongo-schema.ts";
import { mongoStatements } from "./mongo-statements.ts";
import { mongoUsage } from "./mongo-usage.ts";

export interface MongoStoreOptions {
  /** Shown in the server's own logs and lists of connections. Default: `netfacts`. */
  readonly appName?: string;
  /** Multiplies the time that each operation may take: for a server on a machine that is busy with other work. Default: 1. */
  readonly patience?: number;
  /**
   * Given: a server that is away is waited for, and this is called at each attempt that failed, with the line to log. Otherwise the
   * first attempt decides.
   */
  readonly onWaiting?: (error: StoreError) => void;
  /**
   * Called for a key, a plan or a counter of limits that another program made invalid, with the line to log: once, and again each hour. Such
   * a key or plan is missing in lists, and everything else that reads it fails with `invalid`.
   */
  readonly onInvalid?: (error: StoreError) => void;
  /** Ends the waiting: the opening then rejects with the last failure. */
  readonly signal?: AbortSignal;
}

/** Also has what is a file of its own in the one-process form. */
export interface MongoStore extends Store {
  readonly observations: ObservationRepository;
}

/** Between two attempts; an attempt itself lasts up to five seconds. */
const retryMs = 1_000;

/**
 * Connects, makes collections and indexes, and checks that the database is of no later version. Once open it needs no reopening:
 * operations fail while the server is away, and work when it is back.
 *
 * @param uri  `mongodb://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS`; without a database it is `netfacts`. Our settings win over its options
 *   where both say something.
 * @throws StoreError: `unavailable` within about five seconds, or never with `onWaiting`; `readonly` for credentials and permissions;
 *   `newer`. None shows a password.
 */
export async function openMongoStore(uri: string, options: MongoStoreOptions = {}): Promise<MongoStore> {
  const { appName = "netfacts", patience = 1, onWaiting, onInvalid, signal } = options;
  // Once outside the loop: no waiting heals a URI.
  let connection = new MongoConnection(uri, appName, patience, onInvalid);
  for (;;) {
    try {
      await connection.connect();
      await prepareSchema(connection);
      return storeOn(connection);
    } catch (error) {
      await connection.close();
      if (!(error instanceof StoreError) || error.fault !== "unavailable" || onWaiting === undefined || signal?.aborted) throw error;
      onWaiting(error);
      await sleep(retryMs, undefined, signal === undefined ? {} : { signal }).catch(() => {
        throw error;
      });
      connection = new MongoConnection(uri, appName, patience, onInvalid);
    }
  }
}

function storeOn(connection: MongoConnection): MongoStore {
  const listeners = new Set<() => void>();
  const notify = (): void => {
    for (const listener of [...listeners]) listener();
  };
  return {
    keys: mongoKeys(connection, notify),
    plans: mongoPlans(connection, notify),
    limits: mongoLimits(connection),
    runs: mongoRuns(connection),
    bootstrap: mongoBootstrap(connection),
    usage: mongoUsage(connection),
    profiles: mongoProfiles(connection),
    statements: mongoStatements(connection),
    audit: mongoAudit(connection),
    idempotency: mongoIdempotency(connection),
    leases: mongoLeases(connection),
    observations: mongoObservations(connection),
    changesSeen: "own",
    onChange(listener) {
      // A wrapper of its own, so that one function can listen twice and end once.
      const entry = (): void => listener();
      listeners.add(entry);
      return () => {
        listeners.delete(entry);
      };
    },
    async close() {
      listeners.clear();
      await connection.close();
    },
  };
}
