/** Metrics of the gateway. */

import type { Count, Metrics } from "@netfacts/runtime";
import { debtEvents } from "./limits/index.ts";

/** Statuses of failures that are not the caller's. */
const failureStatuses = [500, 503, 504];

/** Upper bounds in seconds: most lookups are in the first, slow reverse DNS in the last. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createGatewayMetrics(metrics: Metrics) {
  const requests = metrics.counter({
    name: "netfacts_http_requests_total",
    help: "HTTP requests by route and status",
    labelNames: ["route", "status"],
  });
  const requestsOf = kept((route: string) => kept((status: number | string) => requests.of({ route, status })));
  const batchItems = metrics.counter({
    name: "netfacts_batch_items_total",
    help: "Results of batches, by kind of item and outcome",
    labelNames: ["kind", "outcome"],
  });
  const batchItemsOf = kept((kind: string) => kept((outcome: string) => batchItems.of({ kind, outcome })));
  const durations = metrics.histogram({
    name: "netfacts_http_request_duration_seconds",
    help: "Time from the first line of the request to the last byte of the response",
    labelNames: ["route"],
    buckets: durationBuckets,
  });
  const whoisRequests = metrics.counter({
    name: "netfacts_whois_requests_total",
    help: "Whois requests and lines of whois bulks, by kind of resource and outcome",
    labelNames: ["kind", "outcome"],
  });
  const whoisRequestsOf = kept((kind: string) => kept((outcome: string) => whoisRequests.of({ kind, outcome })));
  whoisRequests.inc({ kind: "ip", outcome: "answered" }, 0);
  let inFlight = 0;
  metrics.gauge({
    name: "netfacts_http_requests_in_flight",
    help: "HTTP requests in progress",
    labelNames: [],
    collect: (gauge) => gauge.set({}, inFlight),
  });
  return {
    /** Starts the counts of failures at 0: a rate misses the first failure if the series begins with it. */
    expectRoute(route: string): void {
      for (const status of failureStatuses) requests.inc({ route, status }, 0);
    },
    requestBegun(): void {
      inFlight += 1;
    },
    requestEnded(): void {
      inFlight -= 1;
    },
    whoisRequests: (kind: string, outcome: "answered" | "failed"): Count => whoisRequestsOf(kind)(outcome),
    batchItems: (kind: string, outcome: "answered" | "failed"): Count => batchItemsOf(kind)(outcome),
    requests: (route: string, status: number | string): Count => requestsOf(route)(status),
    durations: kept((route: string) => durations.of({ route })),
    ...createPlaceMetrics(metrics),
    ...createKeyMetrics(metrics),
  };
}

/** Metrics of bounded resources, and of connections that were closed for their places. */
function createPlaceMetrics(metrics: Metrics) {
  const shortages = metrics.counter({
    name: "netfacts_shortages_total",
    help: "Requests and connections refused or ended because a bounded resource, or the caller's share of it, was used up",
    labelNames: ["resource", "reason"],
  });
  const shortagesOf = kept((resource: string) => kept((reason: string) => shortages.of({ resource, reason })));
  const places = new Map<string, { readonly used: number; readonly max: number }>();
  for (const [name, help] of [
    ["netfacts_places_used", "Places of a bounded resource in use"],
    ["netfacts_places_max", "Places of a bounded resource in total"],
  ] as const)
    metrics.gauge({
      name,
      help,
      labelNames: ["resource"],
      collect: (gauge) => {
        for (const [resource, { used, max }] of places) gauge.set({ resource }, name === "netfacts_places_used" ? used : max);
      },
    });
  const connectionsEnded = metrics.counter({
    name: "netfacts_connections_ended_total",
    help: "Connections that were closed because of what their client did, or because others needed their places",
    labelNames: ["reason"],
  });
  return {
    /** Places of a resource that were refused or taken back, by reason (`full`, `share`, `surplus`). */
    shortages: (resource: string, reason: string): Count => shortagesOf(resource)(reason),
    connectionsEnded: kept((reason: "unread" | "surplus"): Count => connectionsEnded.of({ reason })),
    /** Shows the used places of a limited resource, and starts the count of its refusals as `full` at 0, like `expectRoute`. */
    watchPlaces(resource: string, watched: { readonly used: number; readonly max: number }): void {
      shortages.inc({ resource, reason: "full" }, 0);
      places.set(resource, watched);
    },
  };
}

/** Metrics of keys, their limits and their usage. */
function createKeyMetrics(metrics: Metrics) {
  const verifications = metrics.counter({
    name: "netfacts_key_verifications_total",
    help: "API keys checked, by outcome",
    labelNames: ["outcome"],
  });
  const decisions = metrics.counter({
    name: "netfacts_limit_decisions_total",
    help: "Requests admitted or rejected by limits",
    labelNames: ["decision"],
  });
  decisions.inc({ decision: "limits_unavailable" }, 0);
  const keyLoads = metrics.counter({
    name: "netfacts_key_loads_total",
    help: "API keys read from the store because the cache had no fresh copy",
    labelNames: ["outcome"],
  });
  keyLoads.inc({ outcome: "failed" }, 0);
  const usageWrites = metrics.counter({
    name: "netfacts_usage_writes_total",
    help: "Batches of usage counts written to the store, by outcome",
    labelNames: ["outcome"],
  });
  usageWrites.inc({ outcome: "failed" }, 0);
  const debt = metrics.counter({
    name: "netfacts_limit_debt_units_total",
    help: "Units admitted while the limit store was unavailable, by outcome",
    labelNames: ["event", "policy"],
  });
  for (const policy of ["rate", "month"]) for (const event of debtEvents) debt.inc({ event, policy }, 0);
  return {
    verifications: kept((outcome: string) => verifications.of({ outcome })),
    keyLoads,
    debt,
    usageWrites,
    watchUsage(meter: { readonly unwritten: number }): void {
      metrics.gauge({
        name: "netfacts_usage_unwritten_requests",
        help: "Requests counted but not yet written to the store",
        labelNames: [],
        collect: (gauge) => gauge.set({}, meter.unwritten),
      });
    },
    decisions: kept((decision: string) => decisions.of({ decision })),
  };
}

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;

/** Caches the result of `make` for each value; there are few values. */
function kept<Value, Made>(make: (value: Value) => Made): (value: Value) => Made {
  const made = new Map<Value, Made>();
  return (value) => {
    let one = made.get(value);
    if (one === undefined) {
      one = make(value);
      made.set(value, one);
    }
    return one;
  };
}
