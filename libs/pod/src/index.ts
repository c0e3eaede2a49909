/** @netfacts/pod: a process that answers from snapshots: its reports, log lines and metrics. Loads no NATS client. */

export { PastThread, type PastThreadOptions } from "./past/past-thread.ts";
export { type Broadcast, PodReporter, type PodReporterDeps, podReportIntervalMs } from "./pod-reporter.ts";
export { type ServePastDeps, serveChanges, servePast } from "./serve-past.ts";
export { pastEvents, snapshotEvents } from "./snapshot-events.ts";
