/** The loader's thread: waits for the id of a snapshot, reads, checks and indexes it over a connection of its own, posts it, ends. */

import { once } from "node:events";
import { constants } from "node:os";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "@netfacts/threads";
import { type LoaderData, type LoadReply, type LoadRequest, loadSnapshot } from "./loader.ts";
import { SnapshotUnavailableError } from "./store/snapshot-store.ts";
import { openStoreSource, prepareStoreSource } from "./store/store-source.ts";

const port = parentPort as MessagePort;
const { source, background } = workerData as LoaderData;
if (background) lowerPriority(constants.priority.PRIORITY_LOW);
prepareStoreSource(source);
const [request] = (await once(port, "message")) as [LoadRequest];
port.postMessage(await load(request));

async function load({ id, given, loading }: LoadRequest): Promise<LoadReply> {
  let manifest = given;
  try {
    const { store, close } = await openStoreSource(source);
    try {
      manifest ??= await store.getManifest(id);
      return { ok: true, loaded: await loadSnapshot(store, manifest, loading) };
    } finally {
      await close();
    }
  } catch (error) {
    const { message, cause } = error as Error;
    const unavailable = error instanceof SnapshotUnavailableError || cause instanceof SnapshotUnavailableError;
    return { ok: false, message, unavailable, manifest };
  }
}
