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
  /** Factor for the time limit of each operation: for a server on a machine that is busy with other work. Default: 1. */
  readonly patience?: number;
  /**
   * If given, opening waits for an unavailable server, and calls this for each failed attempt with the line to log. Otherwise the first attempt
   * decides.
   */
  readonly onWaiting?: (error: StoreError) => void;
  /**
   * Called for a key, a plan or a counter of limits that another program made invalid, with the line to log: once, and again each hour. Such a key or
   * plan is missing in lists, and every other read of it fails with `invalid`.
   */
  readonly onInvalid?: (error: StoreError) => void;
  /** Ends the waiting: opening then rejects with the last failure. */
  readonly signal?: AbortSignal;
}

/** Also has the observations, which are a file of their own in the single-process form. */
export interface MongoStore extends Store {
  readonly observations: ObservationRepository;
}

/** Pause between two attempts; an attempt itself lasts up to five seconds. */
const retryMs = 1_000;

/**
 * Connects, creates collections and indexes, and checks that the database has no later version. Once open it needs no reopening: operations fail
 * while the server is unavailable, and work when it is back.
 *
 * @param uri  `mongodb://USER:PASSWORD@HOST:PORT/DATABASE?OPTIONS`; the default database is `netfacts`. Our settings override options of the URI.
 * @throws StoreError: `unavailable` within about five seconds (times `patience`), or never with `onWaiting`; `readonly` for credentials and
 * permissions; `newer`. None shows a password.
 */
export async function openMongoStore(uri: string, options: MongoStoreOptions = {}): Promise<MongoStore> {
  const { appName = "netfacts", patience = 1, onWaiting, onInvalid, signal } = options;
  // Once, outside the loop: waiting does not fix a URI.
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
      // Wrapped, so that one function can listen twice and end once.
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
