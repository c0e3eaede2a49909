/** The metrics of ingest. */

import type { Metrics } from "@netfacts/runtime";
import { type SectionName, sectionNames } from "@netfacts/snapshot";
import { createRtrMetrics } from "./rtr/index.ts";
import type { RunOutcome } from "./runs/run-threads.ts";

/** Seconds: from a list of names to a full table of many collectors. */
const durationBuckets = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600];

/** A listed source, as its metrics need it. */
export interface MeasuredSource {
  readonly section: SectionName;
  /** Failed checks since the last successful one. */
  readonly failures: number;
  /** Whether a run could not use its newest version. */
  readonly isRefused: boolean;
}

export function createIngestMetrics(metrics: Metrics) {
  const runs = metrics.counter({ name: "netfacts_ingest_runs_total", help: "Runs by outcome", labelNames: ["outcome"] });
  const leaseErrors = metrics.counter({
    name: "netfacts_ingest_lease_errors_total",
    help: "Attempts to take or keep the lease of the leader that the store did not answer",
  });
  // A rate misses a first failure if the series begins with it.
  for (const outcome of ["succeeded", "failed"]) runs.inc({ outcome }, 0);
  leaseErrors.inc({}, 0);
  return {
    leads: metrics.gauge({ name: "netfacts_ingest_leads", help: "1 while this process is the leader", labelNames: [] }),
    leaseErrors,
    runs,
    durations: metrics.histogram({
      name: "netfacts_ingest_run_duration_seconds",
      help: "Duration of a run",
      labelNames: ["outcome"],
      buckets: durationBuckets,
    }),
    ...createSourceMetrics(metrics),
    ...createStoreMetrics(metrics),
    rtr: createRtrMetrics(metrics),
    pods: metrics.gauge({
      name: "netfacts_ingest_pods",
      help: "Pods by their result for the snapshot activated last",
      labelNames: ["outcome"],
    }),
    requests: metrics.counter({
      name: "netfacts_http_requests_total",
      help: "HTTP requests by route and status",
      labelNames: ["route", "status"],
    }),
  };
}

/** Metrics of each listed source and of its section. */
function createSourceMetrics(metrics: Metrics) {
  const records = metrics.gauge({
    name: "netfacts_ingest_source_records",
    help: "Records of each source, as last read",
    labelNames: ["source", "outcome"],
  });
  const sourceFailures = metrics.counter({
    name: "netfacts_ingest_source_failures_total",
    help: "Failed reads of a source",
    labelNames: ["source"],
  });
  const failuresInARow = metrics.gauge({
    name: "netfacts_ingest_source_failures_in_a_row",
    help: "Checks of a source that failed since the last one that succeeded",
    labelNames: ["source"],
  });
  const sourceRefused = metrics.gauge({
    name: "netfacts_ingest_source_refused",
    help: "1 while the newest version of a source cannot be used",
    labelNames: ["source"],
  });
  const fetchSeconds = metrics.gauge({
    name: "netfacts_ingest_source_fetch_seconds",
    help: "Duration of the last successful fetch of a source",
    labelNames: ["source"],
  });
  const sourceSuccess = metrics.gauge({
    name: "netfacts_ingest_source_success_timestamp_seconds",
    help: "Time at which the newest version of a source was last confirmed to be stored",
    labelNames: ["source"],
  });
  const sourceNext = metrics.gauge({
    name: "netfacts_ingest_source_next_check_timestamp_seconds",
    help: "Time of the next check of a source",
    labelNames: ["source"],
  });
  const sectionRefused = metrics.gauge({
    name: "netfacts_ingest_section_refused",
    help: "1 while a section is kept at its previous version because it shrank too much",
    labelNames: ["section"],
  });
  let listed: ReadonlyMap<string, MeasuredSource> = new Map();
  const everListed = new Set<string>();
  return {
    /**
     * Starts the counters of listed sources at 0, and removes gauges of sources and sections that are no longer listed. Call it also if the list is
     * unchanged: a check or a run that was in progress when a source left the list sets its gauges once more.
     *
     * @param sources  by name
     */
    listSources(sources: ReadonlyMap<string, MeasuredSource>): void {
      for (const [source, { failures, isRefused }] of sources) {
        everListed.add(source);
        sourceFailures.inc({ source }, 0);
        failuresInARow.set({ source }, failures);
        sourceRefused.set({ source }, isRefused ? 1 : 0);
      }
      for (const source of everListed) {
        if (sources.has(source)) continue;
        for (const gauge of [failuresInARow, sourceRefused, fetchSeconds, sourceSuccess, sourceNext]) gauge.remove({ source });
        for (const outcome of ["accepted", "skipped"]) records.remove({ source, outcome });
      }
      const sections = sectionsOf(sources);
      for (const section of sectionsOf(listed)) if (!sections.has(section)) sectionRefused.remove({ section });
      listed = sources;
    },
    /** Removes the gauges of refused section versions, which a later term cannot know. */
    endTerm(): void {
      for (const section of sectionNames) sectionRefused.remove({ section });
    },
    records,
    sourceFailures,
    sectionRefused,
    fetches: metrics.counter({
      name: "netfacts_ingest_source_fetches_total",
      help: "Checks of a source, by outcome",
      labelNames: ["source", "outcome"],
    }),
    failuresInARow,
    listFaults: metrics.gauge({
      name: "netfacts_ingest_list_faults",
      help: "Errors in the list of sources; while there are any, no source is checked",
      labelNames: [],
    }),
    fetchedBytes: metrics.counter({
      name: "netfacts_ingest_source_fetched_bytes_total",
      help: "Bytes fetched for a source",
      labelNames: ["source"],
    }),
    fetchSeconds,
    sourceSuccess,
    sourceNext,
  };
}

/** Metrics of the kept snapshots. */
function createStoreMetrics(metrics: Metrics) {
  return {
    kept: metrics.gauge({
      name: "netfacts_history_publications",
      help: "Publications whose snapshots are kept, for rollbacks and for requests about the past",
      labelNames: [],
    }),
    keptBytes: metrics.gauge({
      name: "netfacts_history_store_bytes",
      help: "Bytes of the objects of all kept snapshots, each object once",
      labelNames: [],
    }),
    keptSince: metrics.gauge({
      name: "netfacts_history_earliest_timestamp_seconds",
      help: "Time of the earliest kept publication, as Unix time",
      labelNames: [],
    }),
  };
}

/** The sources of VRPs have the ASPAs too. */
function sectionsOf(sources: ReadonlyMap<string, MeasuredSource>): ReadonlySet<SectionName> {
  return new Set([...sources.values()].flatMap(({ section }) => (section === "vrps" ? [section, "aspas"] : [section])));
}

export type IngestMetrics = ReturnType<typeof createIngestMetrics>;

export function observeRun(metrics: IngestMetrics, { ok, report }: RunOutcome, durationMs: number): void {
  const outcome = ok ? "succeeded" : "failed";
  metrics.runs.inc({ outcome });
  metrics.durations.observe({ outcome }, durationMs / 1_000);
  for (const { name: section, kept, refused } of report?.sections ?? [])
    if (!kept || refused !== null) metrics.sectionRefused.set({ section }, refused === null ? 0 : 1);
  for (const { name: source, state, read, accepted } of report?.sources ?? []) {
    if (state !== "read") metrics.sourceFailures.inc({ source });
    if (state !== "failed") {
      metrics.records.set({ source, outcome: "accepted" }, accepted);
      metrics.records.set({ source, outcome: "skipped" }, read - accepted);
    }
  }
}
