/** The store for the loader's thread, over a connection of its own. */

import { type OpenedStore, SnapshotUnavailableError, type StoreSource } from "@netfacts/dataset";
import { type ConnectOptions, connect } from "../nats/connect.ts";
import { type JetStreamStoreOptions, openJetStreamStore } from "./snapshot-store.ts";

export interface JetStreamSourceOptions extends JetStreamStoreOptions {
  readonly connection: Pick<ConnectOptions, "servers" | "name" | "user" | "pass">;
}

/** The thread ends with its one task: a server that is not there is told, not waited for. */
const connectMsMax = 10_000;

/** Describes the store to a loader: see `loadInWorker` of @netfacts/dataset. */
export function jetStreamSource(options: JetStreamSourceOptions): StoreSource {
  return { kind: "module", url: import.meta.url, options };
}

/** What the loader calls. Throws `SnapshotUnavailableError` when there is no connection within 10 s. */
export async function openStore(options: unknown): Promise<OpenedStore> {
  const { connection, ...store } = options as JetStreamSourceOptions;
  const timeout = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new SnapshotUnavailableError(`no connection to NATS within ${connectMsMax} ms`)), connectMsMax).unref();
  });
  const nc = await Promise.race([connect(connection), timeout]);
  return { store: await openJetStreamStore(nc, store), close: () => nc.close() };
}
