/** What is measured of every process: its service and its limits. */

import { expect, test } from "@jest/globals";
import { createMetrics, createRegistry, measureProcess } from "../src/index.ts";
import { memoryLimitBytes } from "../src/process-metrics.ts";

test("a process names its service and its limits, and counts no dropped line at first", async () => {
  const metrics = createMetrics("x", createRegistry());
  measureProcess(metrics);
  const text = await metrics.registry.text();
  expect(text).toContain('netfacts_process_info{service="x"} 1');
  expect(text).toContain('netfacts_log_lines_dropped{service="x"} 0');
  expect(text).toMatch(/^netfacts_memory_limit_bytes\{service="x"\} [1-9]\d{7,}$/m);
  expect(text).toMatch(/^netfacts_heap_limit_bytes\{service="x"\} [1-9]\d{6,}$/m);
});

test("the limit of memory is the container's, and the machine's where there is none", () => {
  expect(memoryLimitBytes(256, 1_000)).toBe(256);
  expect(memoryLimitBytes(0, 1_000)).toBe(1_000);
  expect(memoryLimitBytes(2 ** 64, 1_000)).toBe(1_000);
});
