/** Whether the samples are in service, so that a start without `SOURCES` follows them. */

import { readSources } from "@netfacts/ingest/app";
import type { Manifest, SnapshotStore } from "@netfacts/snapshot";

/** Sections that the samples always had, and that neither uploads nor overrides fill. */
const telling = ["routes", "vrps", "allocations", "as_names"] as const;

/** @param samples  path of the sources.yaml of the samples. */
export async function servesSamples(snapshots: SnapshotStore, samples: string): Promise<boolean> {
  const id = await snapshots.currentId();
  const manifest = id === null ? null : await snapshots.getManifest(id).catch(() => null);
  if (manifest?.sample_data !== true) return false;
  const { sources } = await readSources(samples, { files: "later" });
  return isOfSamples(manifest, new Set(sources.map(({ name }) => name)));
}

/** A snapshot with data of an operator's own list is none of the samples, although sections that the list does not name are still theirs. */
export function isOfSamples({ sections }: Pick<Manifest, "sections">, names: ReadonlySet<string>): boolean {
  return telling.every((section) => sections[section]?.sources.some(({ name }) => names.has(name)) ?? true);
}
