/** @netfacts/pod: a process that answers from snapshots: what it reports, logs and measures of them. Loads no NATS client. */

export { type Broadcast, PodReporter, type PodReporterDeps, podReportIntervalMs } from "./pod-reporter.ts";
export { snapshotEvents } from "./snapshot-events.ts";
