/** Metrics of events that callers cause as often as they like. */

import { expect, test } from "@jest/globals";
import { createMetrics, createRegistry } from "@netfacts/runtime";
import { createGatewayMetrics } from "../src/metrics.ts";

test("an event takes no memory: each series has one count, however often it happens", () => {
  const metrics = createGatewayMetrics(createMetrics("gateway-auth-quota", createRegistry()));
  const counts = () => [
    metrics.requests("/api/v1/ip/:ip", 200),
    metrics.batchItems("ip", "answered"),
    metrics.whoisRequests("ip", "answered"),
    metrics.shortages("connections", "full"),
    metrics.connectionsEnded("surplus"),
    metrics.verifications("ok"),
    metrics.decisions("rate_limit_exceeded"),
  ];
  const first = counts();
  const later = counts();
  // By identity: equal counts would be two of one series.
  expect(later.filter((count, index) => count !== first[index])).toEqual([]);
});
