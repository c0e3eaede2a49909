/** The sample dataset, imported anew (about four seconds): as a folder, and as a generation in memory. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Generation, loadSnapshot, openDataFolder, openSnapshot } from "@netfacts/dataset";
import { readSources, runIngest } from "@netfacts/ingest/app";

/** Imports the samples into a data folder. */
export async function importSamples(folder: string): Promise<void> {
  const config = await readSources(resolve(import.meta.dirname, "../../samples/sources.yaml"));
  await runIngest({ config, store: openDataFolder(folder) });
}

export async function sampleGeneration(): Promise<Generation> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-samples-"));
  try {
    await importSamples(folder);
    const { store, manifest } = await openSnapshot(folder);
    return Generation.of(await loadSnapshot(store, manifest));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
