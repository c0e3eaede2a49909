/** Opens the store over a connection of its own: for a process, or for the thread of its loader. */

import type { NatsConnection } from "@netfacts/messaging/nats-client";
import { type ConnectOptions, connect } from "@netfacts/messaging/nats-client";
import { type OpenedStore, type OpenOptions, SnapshotUnavailableError, type StoreSource } from "@netfacts/snapshot";
import { type JetStreamStoreOptions, openJetStreamStore } from "./snapshot-store.ts";

export interface JetStreamSourceOptions extends Omit<JetStreamStoreOptions, "bytesPerSecond"> {
  /** Value of `bytesPerSecond` for reads in the background. */
  readonly backgroundBytesPerSecond?: number | null;
  readonly connection: Pick<ConnectOptions, "servers" | "name" | "access" | "once">;
}

/** A loader has one task at a time: an unavailable server is reported, and not waited for. */
const connectMsMax = 10_000;

/** Describes the store for a loader: see `LoaderThreads` of @netfacts/snapshot. */
export function jetStreamSource(options: JetStreamSourceOptions): StoreSource {
  return { kind: "module", url: import.meta.url, options };
}

/** The store for a process: resolves when there is a connection, however long that takes. */
export async function connectJetStreamStore(
  options: JetStreamSourceOptions & { readonly connection: Pick<ConnectOptions, "onWaiting"> },
): Promise<OpenedStore> {
  return opened(await connect(options.connection), options);
}

/** Called by the loader. Throws `SnapshotUnavailableError` when there is no connection within 10 s. */
export async function openStore(options: unknown, { background = false }: OpenOptions = {}): Promise<OpenedStore> {
  const source = options as JetStreamSourceOptions;
  const timeout = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new SnapshotUnavailableError(`no connection to NATS within ${connectMsMax} ms`)), connectMsMax).unref();
  });
  return opened(await Promise.race([connect(source.connection), timeout]), {
    ...source,
    bytesPerSecond: background ? (source.backgroundBytesPerSecond ?? null) : null,
  });
}

async function opened(nc: NatsConnection, options: JetStreamStoreOptions): Promise<OpenedStore> {
  return { store: await openJetStreamStore(nc, options), close: () => nc.close() };
}
