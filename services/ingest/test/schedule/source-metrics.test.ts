/** Metrics of sources that come and go. */

import { expect, test } from "@jest/globals";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { createIngestMetrics } from "../../src/metrics.ts";

test("a check that ends after its source left the list leaves no gauge of it", async () => {
  const registry = createRegistry();
  const metrics = createIngestMetrics(createMetrics("ingest", registry));
  const gauges = [metrics.failuresInARow, metrics.fetchSeconds, metrics.sourceSuccess, metrics.sourceNext];
  const listed = new Map([["slow", { section: "vrps" as const, failures: 2, isRefused: false }]]);
  metrics.listSources(listed);
  metrics.listSources(new Map());
  for (const gauge of gauges) gauge.set({ source: "slow" }, 3);
  metrics.listSources(new Map());
  const series = (await registry.text()).split("\n").filter((line) => line.includes('source="slow"'));
  // A counter stays: without it, its increase would be lost.
  expect(series).toEqual(['netfacts_ingest_source_failures_total{source="slow",service="ingest"} 0']);

  metrics.listSources(listed);
  expect(await registry.text()).toContain('netfacts_ingest_source_failures_in_a_row{source="slow",service="ingest"} 2');
});
