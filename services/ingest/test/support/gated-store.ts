/** A folder of snapshots whose writer waits at a gate, so that a run stands still in its middle until a test opens it. */

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type OpenStore, openFolderStore, type StoreSource } from "@netfacts/snapshot";

interface GatedOptions {
  readonly snapshots: string;
  readonly gate: string;
  readonly unfenced: boolean;
}

/** @param unfenced  the planted fault: what others published meanwhile is not looked at. */
export function gatedSource(snapshots: string, gate: string, unfenced = false): StoreSource {
  const options: GatedOptions = { snapshots, gate, unfenced };
  return { kind: "module", url: import.meta.url, options };
}

export const openStore: OpenStore = async (options) => {
  const { snapshots, gate, unfenced } = options as GatedOptions;
  const store = openFolderStore(snapshots);
  return {
    store: {
      ...store,
      async putObject(bytes) {
        writeFileSync(join(gate, "reached"), "");
        while (!existsSync(join(gate, "open"))) await sleep(10);
        return store.putObject(bytes);
      },
      publish: (manifest, given) => store.publish(manifest, unfenced ? {} : given),
    },
    close: async () => undefined,
  };
};

/** Resolves when a run stands at the gate. */
export async function atGate(gate: string): Promise<void> {
  while (!existsSync(join(gate, "reached"))) await sleep(10);
}

export function openGate(gate: string): void {
  writeFileSync(join(gate, "open"), "");
}
