/** Whether the samples are in service, so that a start without `SOURCES` follows them. */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
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
  const files = sources.filter(({ section }) => telling.some((each) => each === section));
  return isOfSamples(manifest, new Set(await Promise.all(files.map(({ location }) => digestOf(location)))));
}

/**
 * A snapshot with data of an operator's own list is none of the samples, although sections that the list does not name are still theirs. Names would
 * not tell: an own list may have the same ones.
 *
 * @param digests  SHA-256 of each file of the samples. One file of a section is enough, because a newer build may have others.
 */
export function isOfSamples({ sections }: Pick<Manifest, "sections">, digests: ReadonlySet<string>): boolean {
  return telling.every((section) => sections[section]?.sources.some(({ sha256 }) => digests.has(sha256)) ?? true);
}

async function digestOf(path: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
}
