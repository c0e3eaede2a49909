/** A folder of snapshots in which the first run after a test says so stands still with an object stored and no manifest, until the test lets it go on. */

import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type OpenStore, openFolderStore, type StoreSource } from "@netfacts/snapshot";

interface HeldOptions {
  readonly snapshots: string;
  readonly gate: string;
}

export function heldSource(snapshots: string, gate: string): StoreSource {
  const options: HeldOptions = { snapshots, gate };
  return { kind: "module", url: import.meta.url, options };
}

export const openStore: OpenStore = async (options) => {
  const { snapshots, gate } = options as HeldOptions;
  const store = openFolderStore(snapshots);
  return {
    store: {
      ...store,
      async putObject(bytes) {
        const digest = await store.putObject(bytes);
        if (!existsSync(join(gate, "next"))) return digest;
        renameSync(join(gate, "next"), join(gate, "reached"));
        while (!existsSync(join(gate, "open"))) await sleep(10);
        if (existsSync(join(gate, "full"))) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
        return digest;
      },
    },
    close: async () => undefined,
  };
};

/** The next run that stores an object stands still. */
export function holdNext(gate: string): void {
  writeFileSync(join(gate, "next"), "");
}

/** The run that stands still finds the disk full when it goes on. */
export function fillDisk(gate: string): void {
  writeFileSync(join(gate, "full"), "");
}
