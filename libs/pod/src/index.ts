/** @netfacts/pod: a process that answers from snapshots: what it reports, logs and measures of them. Loads no NATS client. */

export { type Broadcast, PodReporter, type PodReporterDeps, podReportIntervalMs } from "./pod-reporter.ts";
export { serveChanges } from "./serve-changes.ts";
export { type ServePastDeps, servePast } from "./serve-past.ts";
export { pastEvents, snapshotEvents } from "./snapshot-events.ts";
