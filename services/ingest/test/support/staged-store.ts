/** A folder of snapshots that stands still at one of its operations, so that a test can end the process there. */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type OpenStore, openFolderStore, type SnapshotStore, type StoreSource } from "@netfacts/snapshot";

/** Before the operation; `published`: after it. */
export type Stage = "getManifest" | "putObject" | "getObject" | "publish" | "published";

interface StagedOptions {
  readonly snapshots: string;
  /** Folder in which `reached` is written. */
  readonly gate: string;
  readonly stage: Stage | "";
}

/** @param stage  empty: nowhere. */
export function stagedSource(snapshots: string, gate: string, stage: string): StoreSource {
  const options: StagedOptions = { snapshots, gate, stage: stage as Stage | "" };
  return { kind: "module", url: import.meta.url, options };
}

export const openStore: OpenStore = async (options) => {
  const { snapshots, gate, stage } = options as StagedOptions;
  const store = openFolderStore(snapshots);
  const stand = async (): Promise<void> => {
    writeFileSync(join(gate, "reached"), "");
    for (;;) await sleep(1_000);
  };
  const before =
    <A extends unknown[], R>(name: Stage, work: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      if (stage === name) await stand();
      return work(...given);
    };
  const staged: SnapshotStore = {
    ...store,
    getManifest: before("getManifest", (id) => store.getManifest(id)),
    putObject: before("putObject", (bytes) => store.putObject(bytes)),
    getObject: before("getObject", (name, bytes) => store.getObject(name, bytes)),
    publish: before("publish", async (manifest, given) => {
      await store.publish(manifest, given);
      if (stage === "published") await stand();
    }),
  };
  return { store: staged, close: async () => undefined };
};

/** Resolves when the process stands there. */
export async function atStage(gate: string): Promise<void> {
  while (!existsSync(join(gate, "reached"))) await sleep(10);
}
