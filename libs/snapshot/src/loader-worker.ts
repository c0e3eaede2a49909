/** The loader's thread: reads, checks and indexes one snapshot over a connection of its own, posts it, ends. */

import { constants, setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { type LoadReply, type LoadRequest, loadSnapshot } from "./loader.ts";
import type { Manifest } from "./manifest.ts";
import { SnapshotUnavailableError } from "./store/snapshot-store.ts";
import { openStoreSource } from "./store/store-source.ts";

const { source, id, given, loading, background } = workerData as LoadRequest;
if (background) yieldProcessor();
let manifest: Manifest | null = given;
let reply: LoadReply;
try {
  const { store, close } = await openStoreSource(source);
  try {
    manifest ??= await store.getManifest(id);
    reply = { ok: true, loaded: await loadSnapshot(store, manifest, loading) };
  } finally {
    await close();
  }
} catch (error) {
  const { message, cause } = error as Error;
  const unavailable = error instanceof SnapshotUnavailableError || cause instanceof SnapshotUnavailableError;
  reply = { ok: false, message, unavailable, manifest };
}
parentPort?.postMessage(reply);

/** Linux has a priority for each thread, and 0 is the one that asks; where it is the whole process's, it stays. */
function yieldProcessor(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, constants.priority.PRIORITY_LOW);
  } catch {
    // A sandbox that does not allow it costs others some time, and nothing else.
  }
}
