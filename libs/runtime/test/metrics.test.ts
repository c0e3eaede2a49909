/** Metrics: shared definitions, the service label, and their text. */

import { describe, expect, test } from "@jest/globals";
import { createMetrics, createRegistry } from "../src/index.ts";

describe("createMetrics", () => {
  test("labels what two services count under one name by service", async () => {
    const registry = createRegistry();
    for (const service of ["one", "two"]) {
      const asked = createMetrics(service, registry).counter({ name: "netfacts_asked_total", help: "Questions", labelNames: ["kind"] });
      asked.inc({ kind: "ip" });
      asked.inc({ kind: "ip" }, 2);
    }
    const text = await registry.text();
    expect(text).toContain('netfacts_asked_total{kind="ip",service="one"} 3');
    expect(text).toContain('netfacts_asked_total{kind="ip",service="two"} 3');
  });

  test("counts by labels that were looked up once together with those of each time, and nothing twice", async () => {
    const registry = createRegistry();
    const asked = createMetrics("one", registry).counter({ name: "netfacts_asked_total", help: "Questions", labelNames: ["kind"] });
    const ip = asked.of({ kind: "ip" });
    ip.inc();
    asked.inc({ kind: "ip" });
    expect(await registry.text()).toContain('netfacts_asked_total{kind="ip",service="one"} 2');
    expect(await registry.text()).toContain('netfacts_asked_total{kind="ip",service="one"} 2');
    ip.inc();
    expect(await registry.text()).toContain('netfacts_asked_total{kind="ip",service="one"} 3');
  });

  test("refuses a second definition that differs", () => {
    const metrics = createMetrics("one", createRegistry());
    metrics.counter({ name: "netfacts_asked_total", help: "Questions" });
    expect(() => metrics.gauge({ name: "netfacts_asked_total", help: "Questions" })).toThrow(
      "netfacts_asked_total is already defined differently",
    );
  });

  test("reads a collected gauge when the text is asked for", async () => {
    const registry = createRegistry();
    let size = 1;
    createMetrics("one", registry).gauge({ name: "netfacts_cache_entries", help: "Entries", collect: (gauge) => gauge.set({}, size) });
    size = 7;
    expect(await registry.text()).toContain('netfacts_cache_entries{service="one"} 7');
  });

  test("raises and lowers a gauge", async () => {
    const registry = createRegistry();
    const gauge = createMetrics("one", registry).gauge({ name: "netfacts_in_flight", help: "Requests" });
    gauge.inc();
    gauge.inc();
    gauge.dec();
    expect(await registry.text()).toContain('netfacts_in_flight{service="one"} 1');
  });

  test("sorts observations into the buckets given", async () => {
    const registry = createRegistry();
    const metrics = createMetrics("one", registry);
    metrics.histogram({ name: "netfacts_wait_seconds", help: "Wait", buckets: [0.1, 1] }).observe({}, 0.5);
    const text = await registry.text();
    expect(text).toContain('netfacts_wait_seconds_bucket{le="0.1",service="one"} 0');
    expect(text).toContain('netfacts_wait_seconds_bucket{le="1",service="one"} 1');
  });

  test("writes of a histogram every bucket, all, their sum and their number, and of each set of labels", async () => {
    const registry = createRegistry();
    const waits = createMetrics("one", registry).histogram({
      name: "wait_seconds",
      help: "Wait",
      labelNames: ["route"],
      buckets: [0.1, 1],
    });
    const a = waits.of({ route: "a" });
    for (const seconds of [0.1, 0.5, 2]) a.observe(seconds);
    waits.observe({ route: "a" }, 1);
    waits.observe({ route: "b" }, 0.25);
    const text = await registry.text();
    expect(text.slice(text.indexOf("# HELP wait_seconds"))).toBe(`# HELP wait_seconds Wait
# TYPE wait_seconds histogram
wait_seconds_bucket{le="0.1",route="a",service="one"} 1
wait_seconds_bucket{le="1",route="a",service="one"} 3
wait_seconds_bucket{le="+Inf",route="a",service="one"} 4
wait_seconds_sum{route="a",service="one"} 3.6
wait_seconds_count{route="a",service="one"} 4
wait_seconds_bucket{le="0.1",route="b",service="one"} 0
wait_seconds_bucket{le="1",route="b",service="one"} 1
wait_seconds_bucket{le="+Inf",route="b",service="one"} 1
wait_seconds_sum{route="b",service="one"} 0.25
wait_seconds_count{route="b",service="one"} 1
`);
  });

  test("shares the registry of the process, which measures the process itself", async () => {
    expect(createMetrics("one").registry).toBe(createMetrics("two").registry);
    expect(await createMetrics("one").registry.text()).toContain("process_resident_memory_bytes");
  });
});
