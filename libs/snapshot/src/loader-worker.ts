/**
 * The thread of a loader: receives the id of a snapshot, reads, checks and indexes it over a connection of its own, and posts it. The thread that
 * started it ends it.
 */

import { constants } from "node:os";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "@netfacts/threads";
import { type LoaderData, type LoadReply, type LoadRequest, loadSnapshot } from "./loader.ts";
import { collectGarbage } from "./released-memory.ts";
import { SnapshotUnavailableError } from "./store/snapshot-store.ts";
import { openStoreSource, prepareStoreSource } from "./store/store-source.ts";

const port = parentPort as MessagePort;
const { source, background } = workerData as LoaderData;
if (background) lowerPriority(constants.priority.PRIORITY_LOW);
prepareStoreSource(source);
// Posted memory is freed when the receiving thread drops it, and nothing refers to it here.
port.on("message", (request: LoadRequest) => void answer(request).then(background ? collectGarbage : undefined));

async function answer(request: LoadRequest): Promise<void> {
  port.postMessage(await load(request));
}

async function load({ id, given, loading }: LoadRequest): Promise<LoadReply> {
  let manifest = given;
  try {
    const { store, close } = await openStoreSource(source, { background });
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
