/** The loader's thread: reads, checks and indexes one snapshot, posts it, ends. */

import { parentPort, workerData } from "node:worker_threads";
import { type LoadReply, type LoadRequest, loadSnapshot } from "./loader.ts";
import { openFolderStore } from "./store/folder-store.ts";

const { folder, id, reuse } = workerData as LoadRequest;
let reply: LoadReply;
try {
  const store = openFolderStore(folder);
  reply = { ok: true, loaded: await loadSnapshot(store, await store.getManifest(id), reuse ?? undefined) };
} catch (error) {
  reply = { ok: false, message: (error as Error).message };
}
parentPort?.postMessage(reply);
