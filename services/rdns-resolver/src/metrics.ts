/** Metrics of the service. */

import type { Metrics } from "@netfacts/runtime";

/** Upper bounds in seconds: slow delegations are in the last. Cached answers are not counted. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const queryBuckets = [1, 2, 3, 4, 8, 16, 32, 64];

/** Outcomes whose share alerts watch. */
const failures = ["servfail", "refused", "timeout", "unavailable", "overloaded"];

export function createRdnsMetrics(metrics: Metrics) {
  const lookups = metrics.counter({
    name: "netfacts_rdns_lookups_total",
    help: "PTR lookups, by outcome and whether the answer was cached",
    labelNames: ["outcome", "hit"],
  });
  // A rate misses the first failure if the series begins with it, and a share without a series is not shown.
  for (const outcome of ["ok", ...failures]) lookups.inc({ outcome, hit: "false" }, 0);
  lookups.inc({ outcome: "ok", hit: "true" }, 0);
  const stale = metrics.counter({
    name: "netfacts_rdns_stale_answers_total",
    help: "Expired answers returned because DNS gave no newer one",
  });
  stale.inc({}, 0);
  const sharedReads = metrics.counter({
    name: "netfacts_rdns_shared_cache_reads_total",
    help: "Reads of the shared cache, by outcome",
    labelNames: ["outcome"],
  });
  for (const outcome of ["hit", "miss", "failed"]) sharedReads.inc({ outcome }, 0);
  return {
    lookups,
    durations: metrics.histogram({
      name: "netfacts_rdns_resolution_duration_seconds",
      help: "Duration of lookups that queried nameservers",
      buckets: durationBuckets,
    }),
    queries: metrics.histogram({
      name: "netfacts_rdns_queries_per_lookup",
      help: "DNS queries of a lookup that queried nameservers",
      buckets: queryBuckets,
    }),
    questions: metrics.counter({
      name: "netfacts_rdns_questions_total",
      help: "Queries sent to nameservers",
      labelNames: ["transport"],
    }),
    dropped: metrics.counter({
      name: "netfacts_rdns_dropped_messages_total",
      help: "Messages from nameservers that matched no open query or could not be parsed",
      labelNames: ["reason"],
    }),
    stale,
    refreshes: metrics.counter({ name: "netfacts_rdns_refreshes_total", help: "Lookups that renew popular answers before they expire" }),
    sharedReads,
    sharedWrites: metrics.counter({ name: "netfacts_rdns_shared_cache_writes_total", help: "Answers written to the shared cache" }),
    up: metrics.gauge({ name: "netfacts_rdns_nameserver_up", help: "1 while the nameserver answers", labelNames: ["server"] }),
    latency: metrics.gauge({
      name: "netfacts_rdns_nameserver_latency_seconds",
      help: "Time in which a nameserver answers a probe, smoothed",
      labelNames: ["server"],
    }),
    measureCache(read: () => { entries: number; bytes: number; inFlight: number }) {
      metrics.gauge({
        name: "netfacts_rdns_cache_entries",
        help: "Number of cached answers, expired ones included",
        collect: (gauge) => gauge.set({}, read().entries),
      });
      metrics.gauge({
        name: "netfacts_rdns_cache_bytes",
        help: "Memory of cached answers, estimated",
        collect: (gauge) => gauge.set({}, read().bytes),
      });
      metrics.gauge({ name: "netfacts_rdns_in_flight", help: "Lookups in progress", collect: (gauge) => gauge.set({}, read().inFlight) });
    },
  };
}

export type RdnsMetrics = ReturnType<typeof createRdnsMetrics>;
