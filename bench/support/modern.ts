/** The full-size dataset of the benchmarks: a synthetic RIB over the modern table, rpki-client's export, delegated files, names. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openDataFolder, type SnapshotStore } from "@netfacts/dataset";
import { type RunReport, readSources, runIngest } from "@netfacts/ingest/app";

/** Peers of the synthetic RIB of lookup benchmarks: enough for every prefix to be there. */
const peersDefault = 2;

export interface ModernOptions {
  /** Peers of the RIB: another number makes every route another one. Default: 2. */
  readonly peers?: number;
  /** Where it is published. Default: the data folder itself. */
  readonly store?: SnapshotStore;
}

/** Writes a RIB with the maker that lies beside the data; `limit` prefixes, 0 = all. */
export function makeRib(data: string, out: string, peerCount: number, limit = 0): void {
  const maker = join(data, "../tools/synth-mrt.mjs");
  if (!existsSync(maker)) throw new Error(`${maker} is missing: it makes the RIB`);
  execFileSync(process.execPath, [maker, "--peers", String(peerCount), "--limit", String(limit), "--out", out], {
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** Imports everything, from sources that are written into `folder`, and publishes it there. */
export async function importModern(data: string, folder: string, options: ModernOptions = {}): Promise<RunReport> {
  const { peers = peersDefault, store = openDataFolder(folder) } = options;
  const rib = join(folder, "rib.mrt.gz");
  makeRib(data, rib, peers);
  const modern = join(data, "modern");
  const source = (name: string, section: string, format: string, location: string) =>
    `  - {name: ${name}, section: ${section}, format: ${format}, location: ${JSON.stringify(location)}, stale_after: never}\n`;
  const file = join(folder, "sources.yaml");
  await writeFile(
    file,
    "sources:\n" +
      source("synthetic", "routes", "mrt", rib) +
      source("apnic", "allocations", "delegated", join(modern, "delegated-apnic-latest.20250721.gz")) +
      source("lacnic", "allocations", "delegated", join(modern, "delegated-lacnic-latest.20250721.gz")) +
      source("afrinic", "allocations", "delegated", join(modern, "delegated-afrinic-extended-latest.20260505.gz")) +
      source("ripencc", "allocations", "delegated", join(data, "real-2014/delegated-ripencc-latest.20140522.gz")) +
      source("arin", "allocations", "delegated", join(data, "real-2014/delegated-arin-latest.20130813.gz")) +
      source("rpki-client", "vrps", "rpki-client-json", join(modern, "rpki-client.20250720T0931.json.bz2")) +
      source("names", "as_names", "name-list", join(modern, "as-names.20260527.tsv.gz")),
  );
  return runIngest({ config: await readSources(file), store });
}
