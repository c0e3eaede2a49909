/** Metrics of every process of ours, in addition to those that prom-client has for a Node process. */

import { totalmem } from "node:os";
import { getHeapStatistics } from "node:v8";
import type { Metrics } from "./metrics.ts";
import { droppedLines } from "./pipe-lines.ts";

/** Call once per process, with the metrics of the service that it runs. */
export function measureProcess(metrics: Metrics): void {
  // The metrics of a Node process have no label `service`: rules join them with this one.
  metrics.gauge({ name: "netfacts_process_info", help: "Always 1; the label names the service that this process runs" }).set({}, 1);
  metrics
    .gauge({
      name: "netfacts_memory_limit_bytes",
      help: "Memory that this process may use: its container's limit, else that of the machine",
    })
    .set({}, memoryLimitBytes());
  metrics
    .gauge({ name: "netfacts_heap_limit_bytes", help: "Size of the JavaScript heap at which the process ends" })
    .set({}, getHeapStatistics().heap_size_limit);
  metrics.gauge({
    name: "netfacts_log_lines_dropped",
    help: "Log lines dropped since the start of the process, because the log was not read",
    collect: (gauge) => gauge.set({}, droppedLines()),
  });
}

/** @param constrained  the limit of the cgroup: if there is none, 0 or a number far above the memory of any machine. */
export function memoryLimitBytes(constrained = process.constrainedMemory(), machine = totalmem()): number {
  return constrained > 0 ? Math.min(constrained, machine) : machine;
}
