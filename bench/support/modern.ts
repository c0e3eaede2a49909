/** The full-size dataset of the benchmarks: a synthetic RIB over the modern table, rpki-client's export, delegated files, names. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type RunReport, readSources, runIngest } from "@netfacts/ingest/app";
import { type Manifest, openDataFolder, type SnapshotStore } from "@netfacts/snapshot";

/** Two states of the data that differ in every section. Two peers are enough for all prefixes. */
const editions = {
  first: { peers: 2, vrps: "rpki-client.20250720T0931.json.bz2", afrinic: "delegated-afrinic-extended-latest.20260505.gz", nameMark: "" },
  second: { peers: 3, vrps: "rpki-client.20250720T1001.json.bz2", afrinic: "delegated-afrinic-latest.20250721.gz", nameMark: " II" },
} as const;

export interface ModernOptions {
  /** Default: the first. */
  readonly edition?: keyof typeof editions;
  /** Number of peers of the RIB. Default: that of the edition. */
  readonly peers?: number;
  /** Store to publish to. Default: the data folder itself. */
  readonly store?: SnapshotStore;
}

/** Writes a RIB with the tool beside the data. @param limit  number of prefixes; 0: all. */
export function makeRib(data: string, out: string, peerCount: number, limit = 0): void {
  const maker = join(data, "../tools/synth-mrt.mjs");
  if (!existsSync(maker)) throw new Error(`${maker} is missing: it makes the RIB`);
  execFileSync(process.execPath, [maker, "--peers", String(peerCount), "--limit", String(limit), "--out", out], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Writes sources into `folder`, imports all of them, and publishes the snapshot. */
export async function importModern(data: string, folder: string, options: ModernOptions = {}): Promise<RunReport> {
  const { store = openDataFolder(folder) } = options;
  return runIngest({ config: await readSources(await writeModernSources(data, folder, options)), store });
}

/** Imports into a separate folder and then copies the snapshot, so that pods are notified only when it is complete. */
export async function importedInto(data: string, store: SnapshotStore, parent: string, edition: keyof typeof editions): Promise<Manifest> {
  const folder = join(parent, edition);
  await mkdir(folder);
  await importModern(data, folder, { edition });
  return copySnapshot(folder, store);
}

/** Publishes the current snapshot of a folder to another store. */
export async function copySnapshot(folder: string, store: SnapshotStore): Promise<Manifest> {
  const from = openDataFolder(folder);
  const manifest = await from.getManifest((await from.currentId()) as string);
  for (const { object, bytes } of [...Object.values(manifest.sections), ...Object.values(manifest.ingest_objects)])
    await store.putObject(await from.getObject(object, bytes));
  await store.publish(manifest);
  return manifest;
}

/** Writes `sources.yaml` and generated sources into a folder; returns its path. */
export async function writeModernSources(data: string, folder: string, options: Omit<ModernOptions, "store"> = {}): Promise<string> {
  const { edition = "first" } = options;
  const { vrps, afrinic, nameMark, peers } = { ...editions[edition], ...options };
  const rib = join(folder, "rib.mrt.gz");
  makeRib(data, rib, peers);
  const modern = join(data, "modern");
  const names = join(folder, "as-names.tsv.gz");
  const nameLines = gunzipSync(await readFile(join(modern, "as-names.20260527.tsv.gz"))).toString();
  await writeFile(names, gzipSync(nameLines.replace(/(?<=.)$/gm, nameMark)));
  const source = (name: string, section: string, format: string, location: string) =>
    `  - {name: ${name}, section: ${section}, format: ${format}, location: ${JSON.stringify(location)}, stale_after: never}\n`;
  const file = join(folder, "sources.yaml");
  await writeFile(
    file,
    "sources:\n" +
      source("synthetic", "routes", "mrt", rib) +
      source("apnic", "allocations", "delegated", join(modern, "delegated-apnic-latest.20250721.gz")) +
      source("lacnic", "allocations", "delegated", join(modern, "delegated-lacnic-latest.20250721.gz")) +
      source("afrinic", "allocations", "delegated", join(modern, afrinic)) +
      source("ripencc", "allocations", "delegated", join(data, "real-2014/delegated-ripencc-latest.20140522.gz")) +
      source("arin", "allocations", "delegated", join(data, "real-2014/delegated-arin-latest.20130813.gz")) +
      source("rpki-client", "vrps", "rpki-client-json", join(modern, vrps)) +
      source("names", "as_names", "name-list", names),
  );
  return file;
}
