/** What the gateway measures. */

import type { Metrics } from "@netfacts/runtime";

/** Seconds; lookups end in the first, reverse DNS in the last. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createGatewayMetrics(metrics: Metrics) {
  return {
    requests: metrics.counter({
      name: "netfacts_http_requests_total",
      help: "HTTP requests by route and status",
      labelNames: ["route", "status"],
    }),
    durations: metrics.histogram({
      name: "netfacts_http_request_duration_seconds",
      help: "Time from the request's first line to the answer's last byte",
      labelNames: ["route"],
      buckets: durationBuckets,
    }),
    inFlight: metrics.gauge({ name: "netfacts_http_requests_in_flight", help: "HTTP requests that are being answered", labelNames: [] }),
    verifications: metrics.counter({
      name: "netfacts_key_verifications_total",
      help: "API keys checked, by outcome",
      labelNames: ["outcome"],
    }),
    keyLoads: metrics.counter({
      name: "netfacts_key_loads_total",
      help: "API keys read from the store, because the cache did not have them fresh",
      labelNames: ["outcome"],
    }),
    decisions: metrics.counter({
      name: "netfacts_limit_decisions_total",
      help: "Requests admitted or refused by limits",
      labelNames: ["decision"],
    }),
  };
}

export type GatewayMetrics = ReturnType<typeof createGatewayMetrics>;
