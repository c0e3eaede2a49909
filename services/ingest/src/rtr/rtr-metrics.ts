/** Metrics of RTR sessions. */

import type { Metrics } from "@netfacts/runtime";
import type { CacheStatus, RtrChange } from "./rtr-client.ts";

export function createRtrMetrics(metrics: Metrics) {
  const labelNames = ["source", "cache"];
  const gauge = (name: string, help: string) => metrics.gauge({ name: `netfacts_ingest_rtr_${name}`, help, labelNames });
  const gauges = {
    synchronised: gauge("synchronised", "1 while the session with a cache is established and its data are complete"),
    active: gauge("active", "1 for the cache whose data are in use"),
    serial: gauge("serial", "Serial number of a cache's data"),
    vrps: gauge("vrps", "VRPs received from a cache"),
    routerKeys: gauge("router_keys", "Router keys received from a cache, which are not used"),
    updated: gauge("updated_timestamp_seconds", "Time at which a cache's data were last known to be current; 0 without data"),
    expires: gauge(
      "expires_timestamp_seconds",
      "Time at which a cache's data are discarded if the cache has not responded by then; 0 if there are no data",
    ),
  };
  const changes = metrics.counter({
    name: "netfacts_ingest_rtr_vrp_changes_total",
    help: "VRPs added and withdrawn by sessions",
    labelNames: ["source", "direction"],
  });
  const discards = metrics.counter({
    name: "netfacts_ingest_rtr_discards_total",
    help: "Number of times data were discarded while no other cache had any",
    labelNames: ["source"],
  });
  return {
    status(source: string, caches: readonly CacheStatus[]): void {
      for (const { cache, state, active, serial, vrps, routerKeys, updatedAt, expiresAt } of caches) {
        const labels = { source, cache };
        gauges.synchronised.set(labels, state === "synchronised" ? 1 : 0);
        gauges.active.set(labels, active ? 1 : 0);
        gauges.serial.set(labels, serial ?? 0);
        gauges.vrps.set(labels, vrps);
        gauges.routerKeys.set(labels, routerKeys);
        gauges.updated.set(labels, (updatedAt ?? 0) / 1_000);
        gauges.expires.set(labels, (expiresAt ?? 0) / 1_000);
      }
    },
    /** Removes the gauges of caches that the source no longer follows. */
    ended(source: string, caches: readonly CacheStatus[]): void {
      for (const { cache } of caches) for (const each of Object.values(gauges)) each.remove({ source, cache });
    },
    change(source: string, change: RtrChange): void {
      if (change.kind === "discarded") discards.inc({ source });
      else {
        changes.inc({ source, direction: "added" }, change.added ?? 0);
        changes.inc({ source, direction: "withdrawn" }, change.withdrawn ?? 0);
      }
    },
  };
}

export type RtrMetrics = ReturnType<typeof createRtrMetrics>;
