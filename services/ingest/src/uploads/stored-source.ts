/** Stored observations as a source of runs: listed beside those of `sources.yaml` where there are any. */

import { createHash } from "node:crypto";
import type { SnapshotStore } from "@netfacts/snapshot";
import type { ObservationRepository } from "@netfacts/storage";
import type { ReadyFile } from "../fetch/ready-files.ts";
import { type SourceConfig, type SourcesConfig, storedFormat } from "../sources/index.ts";

/** No source of a list can have this name: it has a space. */
export const storedSourceName = "stored observations";

/** What is stored, as a run would read it. */
export interface StoredVersion {
  readonly revision: number;
  readonly rows: number;
}

/** Where schedules and runs learn of stored observations. */
export interface StoredStock {
  /** @param isNow  what is stored now; otherwise what the next run shall read, null where nothing is known yet. */
  version(isNow: boolean): Promise<StoredVersion | null>;
}

/** Of who runs once and follows nothing. */
export function storedNow(repository: Pick<ObservationRepository, "revision" | "rowCount">): StoredStock {
  return {
    async version() {
      // The revision first: rows that come between the two make another one.
      const revision = await repository.revision();
      return { revision, rows: await repository.rowCount() };
    },
  };
}

/** The uploads together are one source, which may shrink as it likes: deletions are meant. */
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

/** The list with the stored observations, where there are any, or the current snapshot has some that are to be taken out. */
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
  // A damaged one is about to be replaced.
  const manifest = id === null ? null : await snapshots.getManifest(id).catch(() => null);
  return manifest?.sections.locations?.sources.some(({ format, sha256 }) => format === storedFormat && sha256 !== "") === true;
}

/** What a run is told of them. */
export function storedFile({ revision, rows }: StoredVersion): ReadyFile {
  const sha256 = createHash("sha256").update(`stored observations ${revision}`).digest("hex");
  const none = { url: null, fetchedAt: null, lastGood: null };
  return { location: storedSourceName, sha256, ...none, ...(rows === 0 && { givenUp: "no observations are stored" }) };
}
