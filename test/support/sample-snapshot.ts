/** The generation of the sample dataset, imported anew: about four seconds. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Generation, loadSnapshot, openDataFolder, openSnapshot } from "@netfacts/dataset";
import { readSources, runIngest } from "@netfacts/ingest/app";

export async function sampleGeneration(): Promise<Generation> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-samples-"));
  try {
    const config = await readSources(resolve(import.meta.dirname, "../../samples/sources.yaml"));
    await runIngest({ config, store: openDataFolder(folder) });
    const { store, manifest } = await openSnapshot(folder);
    return Generation.of(await loadSnapshot(store, manifest));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
