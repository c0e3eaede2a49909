/** Logs and measures the snapshots that a process holds. */

import { snapshotNumberOf } from "@netfacts/contracts";
import type { Logger, Metrics } from "@netfacts/runtime";
import { type FollowerEvents, isStale, type Manifest } from "@netfacts/snapshot";
import type { PastThread, PastThreadEvents } from "./past/past-thread.ts";

export function snapshotEvents(log: Logger, metrics: Metrics): FollowerEvents {
  let sections: Manifest["sections"] = {};
  const loads = metrics.counter({ name: "netfacts_snapshot_loads_total", help: "Snapshots loaded, by outcome", labelNames: ["outcome"] });
  const digest = metrics.gauge({
    name: "netfacts_snapshot_digest",
    help: "Last eight digits of the id of the snapshot in service, as a number: equal in processes that serve the same one",
  });
  const asOf = metrics.gauge({
    name: "netfacts_section_as_of_seconds",
    help: "Time of the data of each section in service, as Unix time",
    labelNames: ["section"],
  });
  const sectionStale = metrics.gauge({
    name: "netfacts_section_stale",
    help: "1 while a section in service is older than its sources allow",
    labelNames: ["section"],
    collect(gauge) {
      for (const [section, entry] of Object.entries(sections)) gauge.set({ section }, isStale(entry, Date.now()) ? 1 : 0);
    },
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
      digest.set({}, snapshotNumberOf(generation.id).digest);
      for (const section of Object.keys(sections)) {
        if (section in generation.manifest.sections) continue;
        asOf.remove({ section });
        sectionStale.remove({ section });
      }
      sections = generation.manifest.sections;
      for (const [section, entry] of Object.entries(sections)) asOf.set({ section }, Date.parse(entry.as_of) / 1000);
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

/** Logs and measures the past. `past` is called when metrics are read. */
export function pastEvents(log: Logger, metrics: Metrics, past: () => Pick<PastThread, "state">): PastThreadEvents {
  const questions = metrics.counter({
    name: "netfacts_history_requests_total",
    help: "Requests about the past and for changes that this process answered, by result: `answered` or the code of the problem",
    labelNames: ["result"],
  });
  const loads = metrics.counter({
    name: "netfacts_history_loads_total",
    help: "Snapshots of the past loaded for requests with `as_of`, by outcome",
    labelNames: ["outcome"],
  });
  const loadSeconds = metrics.histogram({
    name: "netfacts_history_load_seconds",
    help: "Time to load a snapshot of the past, in seconds",
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  });
  const ends = metrics.counter({
    name: "netfacts_history_thread_failures_total",
    help: "Threads for requests about the past that failed and were replaced",
  });
  // Starts at 0: a rate does not see the first increase of a series that begins with it.
  for (const result of ["answered", "history_loading", "history_unavailable"]) questions.inc({ result }, 0);
  for (const outcome of ["loaded", "failed"]) loads.inc({ outcome }, 0);
  ends.inc({}, 0);
  metrics.gauge({
    name: "netfacts_history_bytes",
    help: "Memory of the snapshots of the past, in bytes, without what they share with those in service",
    collect: (gauge) => gauge.set({}, past().state.bytes),
  });
  metrics.gauge({
    name: "netfacts_history_snapshots",
    help: "Snapshots of the past in memory",
    collect: (gauge) => gauge.set({}, past().state.kept),
  });
  metrics.gauge({
    name: "netfacts_history_waiting",
    help: "Requests about the past and for changes that wait for their answers",
    collect: (gauge) => gauge.set({}, past().state.waiting),
  });
  return {
    loaded(snapshot, loadMs) {
      loads.inc({ outcome: "loaded" });
      loadSeconds.observe({}, loadMs / 1_000);
      log.info({ snapshot, load_ms: Math.round(loadMs) }, "snapshot of the past loaded");
    },
    failed(snapshot, err) {
      loads.inc({ outcome: "failed" });
      log.error({ snapshot, err }, "snapshot of the past cannot be loaded; requests about the present are not affected");
    },
    answered: (result) => questions.inc({ result }),
    ended(err) {
      ends.inc({});
      log.error({ err }, "the thread for requests about the past failed; the next such request starts a new one");
    },
  };
}
