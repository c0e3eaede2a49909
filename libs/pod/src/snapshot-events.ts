/** What is logged and measured of the snapshots that a process holds. */

import type { Logger, Metrics } from "@netfacts/runtime";
import type { FollowerEvents } from "@netfacts/snapshot";

export function snapshotEvents(log: Logger, metrics: Metrics): FollowerEvents {
  const loads = metrics.counter({ name: "netfacts_snapshot_loads_total", help: "Snapshots loaded, by outcome", labelNames: ["outcome"] });
  const asOf = metrics.gauge({
    name: "netfacts_section_as_of_seconds",
    help: "Time of the data of each section in service, as Unix time",
    labelNames: ["section"],
  });
  const stale = metrics.gauge({
    name: "netfacts_snapshot_stale",
    help: "1 while a newer snapshot is rejected and an older one remains in service",
  });
  stale.set({}, 0);
  return {
    prepared(snapshot, loadMs) {
      loads.inc({ outcome: "prepared" });
      log.info({ snapshot, load_ms: Math.round(loadMs) }, "snapshot loaded; waiting for activation");
    },
    activated(generation, loadMs) {
      loads.inc({ outcome: "activated" });
      for (const [section, entry] of Object.entries(generation.manifest.sections)) asOf.set({ section }, Date.parse(entry.as_of) / 1000);
      log.info({ snapshot: generation.id, load_ms: Math.round(loadMs) }, "snapshot in service");
    },
    refused(snapshot, err) {
      loads.inc({ outcome: "refused" });
      log.error({ snapshot, err }, "snapshot rejected; the previous one remains in service, marked as stale");
    },
    stale: (now) => stale.set({}, now ? 1 : 0),
    unavailable(snapshot, err) {
      loads.inc({ outcome: "unavailable" });
      log.warn({ snapshot, err }, "snapshot cannot be read; retrying in seconds");
    },
  };
}
