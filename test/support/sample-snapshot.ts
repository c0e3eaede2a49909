/** The sample dataset as a folder, and as a generation in memory. It is imported once in a run of tests (some seconds). */

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { readSources, runIngest } from "@netfacts/ingest/app";
import { Generation, type LoadedSnapshot, loadSnapshot, openDataFolder, openSnapshot } from "@netfacts/snapshot";
import { madeOnce } from "./made-once.ts";

/** A data folder with the samples, only for reading: the one of this run; outside a run, one that is made at `own`. */
export async function sampleFolder(own: string): Promise<string> {
  return await madeOnce("samples", own, importSamples);
}

/** Copies the samples into the empty folder `home`, so that the one-process form starts there without an import. @returns `home`. */
export async function withSamples(home: string): Promise<string> {
  const samples = await sampleFolder(home);
  if (samples !== home) await cp(samples, home, { recursive: true });
  return home;
}

async function importSamples(folder: string): Promise<void> {
  const config = await readSources(resolve(import.meta.dirname, "../../samples/sources.yaml"));
  await runIngest({ config, store: openDataFolder(folder) });
}

export async function sampleGeneration(): Promise<Generation> {
  return Generation.of(await loadedSamples());
}

export async function loadedSamples(): Promise<LoadedSnapshot> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-samples-"));
  try {
    const { store, manifest } = await openSnapshot(await sampleFolder(folder));
    return await loadSnapshot(store, manifest);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
