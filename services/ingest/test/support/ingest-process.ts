/** The service as a process, over a real store and a folder of snapshots whose writer waits at a gate; with a planted fault where that is asked for. */

import { createInProcessMessaging } from "@netfacts/messaging";
import { runMain, startTelemetry } from "@netfacts/runtime/telemetry";
import { openFolderStore } from "@netfacts/snapshot";
import type { LeaseRepository } from "@netfacts/storage";
import { gatedSource } from "./gated-store.ts";

const service = "ingest";
const { SNAPSHOTS = "", GATE = "", UNFENCED = "" } = process.env;
const unfenced = UNFENCED !== "";

/** The planted fault: whoever led once believes that it still does. */
function credulous(leases: LeaseRepository): LeaseRepository {
  return {
    ...leases,
    renew: async (name, owner) => ({ outcome: "held", lease: { name, owner, fence: 1, until: Number.MAX_SAFE_INTEGER } }),
  };
}

await runMain(async () => {
  const telemetry = await startTelemetry({ service });
  const { runService } = await import("@netfacts/runtime");
  const { openMongoStore } = await import("@netfacts/storage/mongo");
  const { buildApp } = await import("../../src/app.ts");
  const { loadIngestConfig } = await import("../../src/config.ts");
  await runService({
    service,
    telemetry,
    loadConfig: loadIngestConfig,
    async build({ config, log, metrics, explain, onStop }) {
      const store = await openMongoStore(config.MONGODB_URI, { appName: service });
      onStop(() => store.close());
      return buildApp({
        config,
        store: unfenced ? { ...store, leases: credulous(store.leases) } : store,
        observations: { repository: store.observations, source: { kind: "mongo", uri: config.MONGODB_URI } },
        snapshots: openFolderStore(SNAPSHOTS),
        snapshotSource: gatedSource(SNAPSHOTS, GATE, unfenced),
        broadcast: createInProcessMessaging(),
        clock: { now: () => Date.now(), ...(unfenced && { monotonic: () => 0 }) },
        log,
        metrics,
        explain,
      });
    },
  });
});
