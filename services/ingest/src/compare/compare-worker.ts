/** The thread that compares: loads one section of two snapshots, and tells each change as a line. */

import { once } from "node:events";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import type { SnapshotChangeCounts, SnapshotChangeLine } from "@netfacts/contracts";
import { Generation, loadSnapshot, openStoreSource, type SectionName, type SnapshotStore, sectionChanges } from "@netfacts/snapshot";
import type { CompareRequest, FromCompare } from "./compare-messages.ts";

/** Of UTF-16 units: some hundred changes. */
const textLengthMin = 65_536;

const port = parentPort as MessagePort;
const tell = (message: FromCompare) => port.postMessage(message);
const request = workerData as CompareRequest;
try {
  await compare(request);
} catch (error) {
  tell({ kind: "failed", message: (error as Error).message });
}
port.close();

async function compare({ source, section, limit, ...ids }: CompareRequest): Promise<void> {
  const { store, close } = await openStoreSource(source);
  let from: Generation;
  let to: Generation;
  try {
    from = await sectionOf(store, ids.from, section);
    to = await sectionOf(store, ids.to, section);
  } finally {
    await close();
  }
  const counts = { added: 0, removed: 0, changed: 0 };
  let told = 0;
  let text = "";
  for (const { change, identity, from: before, to: after } of sectionChanges(from, to, section)) {
    counts[change] += 1;
    if (told === limit) continue;
    told += 1;
    text += `${JSON.stringify({ change, row: identity, from: before, to: after } satisfies SnapshotChangeLine)}\n`;
    if (text.length < textLengthMin) continue;
    const wanted = once(port, "message");
    tell({ kind: "lines", text });
    text = "";
    await wanted;
  }
  tell({ kind: "lines", text: `${text}${JSON.stringify({ complete: true, ...counts } satisfies SnapshotChangeCounts)}\n` });
  tell({ kind: "end" });
}

/** The snapshot with this section alone; with none where it has none. */
async function sectionOf(store: SnapshotStore, id: string, section: SectionName): Promise<Generation> {
  const manifest = await store.getManifest(id);
  const entry = manifest.sections[section];
  return Generation.of(await loadSnapshot(store, { ...manifest, sections: entry === undefined ? {} : { [section]: entry } }));
}
