/** The thread that compares: loads one section of two snapshots, and counts and tells what differs. */

import { constants } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { SnapshotChange, SnapshotChanges } from "@netfacts/contracts";
import { Generation, type LoadedSnapshot, loadSnapshot, openStoreSource, sectionChanges } from "@netfacts/snapshot";
import { lowerPriority } from "@netfacts/threads";
import type { CompareReply, CompareRequest } from "./compare-request.ts";

lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL);
let reply: CompareReply;
try {
  reply = { ok: true, text: JSON.stringify(await compare(workerData as CompareRequest)) };
} catch (error) {
  reply = { ok: false, message: (error as Error).message };
}
parentPort?.postMessage(reply);

async function compare({ limit, ...asked }: CompareRequest): Promise<SnapshotChanges> {
  const [before, after] = await loaded(asked);
  const { from, to, section } = asked;
  const counts = { added: 0, removed: 0, changed: 0 };
  const items: SnapshotChange[] = [];
  for (const { change, identity, from, to } of sectionChanges(Generation.of(before), Generation.of(after), section)) {
    counts[change] += 1;
    if (items.length < limit) items.push({ change, row: identity, from, to });
  }
  return { from, to, section, ...counts, items };
}

/** Both snapshots with this section alone, or with none where they have none. The same object is loaded once. */
async function loaded({ source, from, to, section }: Omit<CompareRequest, "limit">): Promise<readonly [LoadedSnapshot, LoadedSnapshot]> {
  const { store, close } = await openStoreSource(source);
  const load = async (id: string, reuse: readonly LoadedSnapshot[]): Promise<LoadedSnapshot> => {
    const manifest = await store.getManifest(id);
    const entry = manifest.sections[section];
    const sections = entry === undefined ? {} : { [section]: entry };
    // Rows are read in their order, which needs no direct index.
    return loadSnapshot(store, { ...manifest, sections }, { reuse, ipv4Index: "compact" });
  };
  try {
    const before = await load(from, []);
    return [before, await load(to, [before])];
  } finally {
    await close();
  }
}
