/** The state of each source, for a program that has the folder and no service to ask. */

import type { IngestSource } from "@netfacts/contracts";
import type { SnapshotStore } from "@netfacts/snapshot";
import type { Store } from "@netfacts/storage";
import { sourceHealth } from "../runs/source-health.ts";
import type { SourcesConfig } from "../sources/index.ts";
import { openStock } from "./lead.ts";
import { scheduleOf } from "./schedule-record.ts";

export interface OverviewOptions {
  readonly config: SourcesConfig;
  readonly stateFolder: string;
  readonly runs: Pick<Store["runs"], "list">;
  readonly snapshots: Pick<SnapshotStore, "currentId" | "getManifest">;
  /** Unix ms. */
  readonly now: number;
}

/** Number of the last runs that the state is read from. */
const runsMax = 100;

export async function sourcesOverview({ config, stateFolder, runs, snapshots, now }: OverviewOptions): Promise<IngestSource[]> {
  const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const fetching = { userAgent: "", caFile: "" };
  const stock = await openStock({ stateFolder, fetching, metrics: null, log: silent, clock: { now: () => now } });
  const id = await snapshots.currentId();
  const known = {
    runs: await runs.list(runsMax, now),
    manifest: id === null ? null : await snapshots.getManifest(id).catch(() => null),
    schedule: new Map(await Promise.all(config.sources.map(async (source) => [source.name, await scheduleOf(source, stock)] as const))),
  };
  return sourceHealth(config.sources, known, now);
}
