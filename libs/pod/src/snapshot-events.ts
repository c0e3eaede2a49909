/** What is logged and measured of the snapshots that a process holds. */

import type { Logger, Metrics } from "@netfacts/runtime";
import type { FollowerEvents } from "@netfacts/snapshot";

export function snapshotEvents(log: Logger, metrics: Metrics): FollowerEvents {
  const loads = metrics.counter({ name: "netfacts_snapshot_loads_total", help: "Snapshots loaded, by outcome", labelNames: ["outcome"] });
  const asOf = metrics.gauge({
    name: "netfacts_section_as_of_seconds",
    help: "Unix time of each section in service",
    labelNames: ["section"],
  });
  const stale = metrics.gauge({ name: "netfacts_snapshot_stale", help: "1 while a newer snapshot was refused and an older one serves" });
  stale.set({}, 0);
  return {
    prepared(snapshot, loadMs) {
      loads.inc({ outcome: "prepared" });
      log.info({ snapshot, load_ms: Math.round(loadMs) }, "snapshot loaded; it serves once it is activated");
    },
    activated(generation, loadMs) {
      loads.inc({ outcome: "activated" });
      for (const [section, entry] of Object.entries(generation.manifest.sections)) asOf.set({ section }, Date.parse(entry.as_of) / 1000);
      log.info({ snapshot: generation.id, load_ms: Math.round(loadMs) }, "snapshot in service");
    },
    refused(snapshot, err) {
      loads.inc({ outcome: "refused" });
      log.error({ snapshot, err }, "snapshot refused; what served before goes on serving, marked as stale");
    },
    stale: (now) => stale.set({}, now ? 1 : 0),
    unavailable(snapshot, err) {
      loads.inc({ outcome: "unavailable" });
      log.warn({ snapshot, err }, "the snapshot could not be read; it is tried again in seconds");
    },
  };
}
