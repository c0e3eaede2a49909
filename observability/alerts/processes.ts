/** Alerts on every process: whether it runs and is connected, and whether it comes near a limit. */

import { type Alert, days, hours, minutes, ofOurs, type Times } from "./alert.ts";

export function processAlerts(time: Times): Alert[] {
  return [
    {
      name: "NetfactsProcessDown",
      expr: `up == 0 and on (namespace, job, instance) last_over_time(netfacts_process_info[${time(7 * days)}])`,
      holds: time(2 * minutes),
      severity: "critical",
      summary: "{{ $labels.instance }} of {{ $labels.job }} cannot be scraped",
      description: "The process has ended, hangs, or its telemetry port cannot be reached.",
    },
    {
      name: "NetfactsServiceMissing",
      expr:
        `count by (namespace, service) (last_over_time(netfacts_process_info[${time(6 * hours)}]))` +
        " unless count by (namespace, service) (netfacts_process_info)",
      holds: time(5 * minutes),
      severity: "critical",
      summary: "No process of {{ $labels.service }} runs",
      description: "The service ran within the last six hours. Its requests get 503; without ingest the data become stale.",
    },
    {
      name: "NetfactsRestarting",
      // Not only while it runs: Kubernetes waits up to five minutes before each new start, in which there is nothing to scrape.
      expr:
        `last_over_time(netfacts_process_info[${time(30 * minutes)}])` +
        ` and on (namespace, job, instance) changes(process_start_time_seconds[${time(30 * minutes)}]) > 2`,
      holds: time(minutes),
      severity: "warning",
      summary: "{{ $labels.service }} at {{ $labels.instance }} restarts again and again",
      description: "The process ends soon after each start. The others of its service have to do its work.",
    },
    {
      name: "NetfactsNatsDisconnected",
      expr: "netfacts_nats_connected == 0",
      holds: time(minutes),
      severity: "critical",
      summary: "{{ $labels.service }} at {{ $labels.instance }} is not connected to NATS",
      description: "The process takes no requests over NATS, and a gateway gets no answers from other services.",
    },
    {
      name: "NetfactsNatsRightMissing",
      expr: "netfacts_nats_rights_missing == 1",
      holds: time(minutes),
      severity: "critical",
      summary: "NATS refuses a subject to {{ $labels.service }} at {{ $labels.instance }}",
      description: "The process lacks requests, or cannot send them: its user at NATS has fewer rights than it needs.",
    },
    {
      name: "NetfactsEventLoopDelayed",
      expr: `${ofOurs("nodejs_eventloop_lag_p99_seconds")} > 0.25`,
      holds: time(5 * minutes),
      severity: "warning",
      summary: "The event loop of {{ $labels.service }} at {{ $labels.instance }} is late by {{ $value | humanizeDuration }}",
      description: "The process has more work than one core can do, or is throttled. Every request to it waits that long.",
    },
    {
      name: "NetfactsMemoryNearLimit",
      expr: "process_resident_memory_bytes / on (namespace, job, instance) group_left (service) netfacts_memory_limit_bytes > 0.9",
      holds: time(10 * minutes),
      severity: "critical",
      summary: "{{ $labels.instance }} uses {{ $value | humanizePercentage }} of its memory",
      description: "Beyond its limit the process is killed. A pod needs room for two snapshots while it loads a new one.",
    },
    {
      name: "NetfactsHeapNearLimit",
      expr: "nodejs_heap_size_used_bytes / on (namespace, job, instance) group_left (service) netfacts_heap_limit_bytes > 0.9",
      holds: time(10 * minutes),
      severity: "critical",
      summary: "The heap of {{ $labels.instance }} is {{ $value | humanizePercentage }} full",
      description: "Garbage collection slows the process down. It ends when the heap is full.",
    },
    {
      name: "NetfactsFilesNearLimit",
      expr: `${ofOurs("(process_open_fds / process_max_fds)")} > 0.8`,
      holds: time(10 * minutes),
      severity: "warning",
      summary: "{{ $labels.service }} at {{ $labels.instance }} has {{ $value | humanizePercentage }} of its file descriptors open",
      description: "Beyond the limit, the process can accept no connection and open no file.",
    },
    {
      name: "NetfactsLogLinesDropped",
      expr: `increase(netfacts_log_lines_dropped[${time(10 * minutes)}]) > 0`,
      holds: time(minutes),
      severity: "warning",
      summary: "{{ $labels.service }} at {{ $labels.instance }} drops log lines",
      description: "Nobody reads its log fast enough. Requests are not affected.",
    },
    {
      name: "NetfactsCredentialExpiresSoon",
      expr: `netfacts_credential_expiry_timestamp_seconds - time() < ${14 * days}`,
      holds: time(10 * minutes),
      severity: "warning",
      summary: "{{ $labels.credential }} of {{ $labels.service }} expires in {{ $value | humanizeDuration }}",
      description: "When it has expired, the service cannot connect to NATS.",
    },
    {
      name: "NetfactsCredentialExpiresNow",
      expr: `netfacts_credential_expiry_timestamp_seconds - time() < ${days}`,
      holds: time(minutes),
      severity: "critical",
      summary: "{{ $labels.credential }} of {{ $labels.service }} expires in {{ $value | humanizeDuration }}",
      description: "When it has expired, the service cannot connect to NATS. A negative time means that it has expired.",
    },
  ];
}
