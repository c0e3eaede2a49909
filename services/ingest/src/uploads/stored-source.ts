/** Stored observations as a source of runs: added to those of `sources.yaml` if there are any. */

import { createHash } from "node:crypto";
import type { SnapshotStore } from "@netfacts/snapshot";
import type { ObservationRepository } from "@netfacts/storage";
import type { ReadyFile } from "../fetch/ready-files.ts";
import { type SourceConfig, type SourcesConfig, storedFormat } from "../sources/index.ts";

/** The name has a space, so that no listed source can have it. */
export const storedSourceName = "stored observations";

/** The version of the stored observations that a run would read. */
export interface StoredVersion {
  readonly revision: number;
  readonly rows: number;
}

/** Gives schedules and runs the version of the stored observations. */
export interface StoredStock {
  /** @param isNow  true: the version that is stored now; false: the one that the next run is to read, null if none is known yet */
  version(isNow: boolean): Promise<StoredVersion | null>;
}

/** For a process that runs once and follows nothing. */
export function storedNow(repository: Pick<ObservationRepository, "revision" | "rowCount">): StoredStock {
  return {
    async version() {
      // The revision comes first: rows that are added between the two calls make another revision.
      const revision = await repository.revision();
      return { revision, rows: await repository.rowCount() };
    },
  };
}

/** All uploads together are one source. It may shrink by any amount, since deletions are meant. */
export const storedSource: SourceConfig = {
  name: storedSourceName,
  section: "locations",
  format: storedFormat,
  location: storedSourceName,
  required: true,
  intervalSeconds: 604_800,
  bytesMax: Number.MAX_SAFE_INTEGER,
  secondsMax: 3_600,
  shrinkMax: 1,
  badRecordsMax: 1,
  kindShrinkMax: 1,
  countErrorMax: null,
  covers: null,
  rangeType: null,
  staleAfterSeconds: null,
  asOf: null,
  clockSkewMaxSeconds: 3_600,
  futureDates: "refuse",
  line: 0,
};

/** Adds the stored observations to the list, if there are any, or if the current snapshot has some that must be removed. */
export async function withStored(
  config: SourcesConfig,
  stock: StoredStock | undefined,
  snapshots: Pick<SnapshotStore, "currentId" | "getManifest">,
  isNow: boolean,
): Promise<SourcesConfig> {
  if (stock === undefined) return config;
  const version = await stock.version(isNow);
  const isListed = (version?.rows ?? 0) > 0 || (await isPublished(snapshots));
  return isListed ? { ...config, sources: [...config.sources, storedSource] } : config;
}

async function isPublished(snapshots: Pick<SnapshotStore, "currentId" | "getManifest">): Promise<boolean> {
  const id = await snapshots.currentId();
  // A damaged manifest is about to be replaced.
  const manifest = id === null ? null : await snapshots.getManifest(id).catch(() => null);
  return manifest?.sections.locations?.sources.some(({ format, sha256 }) => format === storedFormat && sha256 !== "") === true;
}

/** The stored observations in the form of a file for a run. */
export function storedFile({ revision, rows }: StoredVersion): ReadyFile {
  const sha256 = createHash("sha256").update(`stored observations ${revision}`).digest("hex");
  const none = { url: null, fetchedAt: null, lastGood: null };
  return { location: storedSourceName, sha256, ...none, ...(rows === 0 && { givenUp: "no observations are stored" }) };
}
