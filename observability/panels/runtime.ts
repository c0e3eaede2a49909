/** The dashboard of the processes: what each uses, and whether it is well. */

import { type Dashboard, each, lines, number, where } from "./panel.ts";

const ours = "* on (namespace, job, instance) group_left (service) netfacts_process_info";
const chosen = where('instance=~"$instance"');

export const runtime: Dashboard = {
  name: "runtime",
  title: "Netfacts / Runtime",
  description: "Processes: processor time, memory, event loop, NATS, logs and credentials.",
  rows: [
    {
      title: "Processes",
      panels: [
        number(
          "Processes",
          "short",
          "Processes that are ready, by service.",
          { "{{service}}": `sum by (service) (netfacts_ready${where()})` },
          { alerts: ["NetfactsServiceMissing", "NetfactsProcessDown", "NetfactsNoGatewayReady"] },
        ),
        lines("Processor time", "short", "Cores in use by each process.", {
          [each]: `rate(process_cpu_seconds_total${chosen}[$__rate_interval]) ${ours}`,
        }),
        lines(
          "Event loop",
          "s",
          "99th percentile of the delay between two scrapes.",
          { [each]: `nodejs_eventloop_lag_p99_seconds${chosen} ${ours}` },
          { thresholds: [0.1, 0.25], alerts: ["NetfactsEventLoopDelayed"] },
        ),
        lines(
          "Restarts",
          "short",
          "Starts within half an hour.",
          { [each]: `changes(process_start_time_seconds${chosen}[30m]) ${ours}` },
          { thresholds: [1, 3], alerts: ["NetfactsRestarting"] },
        ),
      ],
    },
    {
      title: "Memory",
      panels: [
        lines(
          "Memory, as share of the limit",
          "percentunit",
          "Resident memory by the limit of the container, or the memory of the machine.",
          {
            [each]: `process_resident_memory_bytes${chosen} / on (namespace, job, instance) group_left (service) netfacts_memory_limit_bytes`,
          },
          { thresholds: [0.8, 0.9], alerts: ["NetfactsMemoryNearLimit"] },
        ),
        lines("Memory", "bytes", "Resident memory.", { [each]: `process_resident_memory_bytes${chosen} ${ours}` }),
        lines(
          "Heap, as share of the limit",
          "percentunit",
          "JavaScript heap in use. Snapshots are outside of it.",
          { [each]: `nodejs_heap_size_used_bytes${chosen} / on (namespace, job, instance) group_left (service) netfacts_heap_limit_bytes` },
          { thresholds: [0.8, 0.9], alerts: ["NetfactsHeapNearLimit"] },
        ),
        lines("Garbage collection", "percentunit", "Share of the time spent on garbage collection.", {
          [each]: `sum by (namespace, job, instance) (rate(nodejs_gc_duration_seconds_sum${chosen}[$__rate_interval])) ${ours}`,
        }),
        lines(
          "Open files",
          "percentunit",
          "File descriptors in use, as share of the limit. Connections count, too.",
          { [each]: `process_open_fds${chosen} / process_max_fds${chosen} ${ours}` },
          { thresholds: [0.6, 0.8], alerts: ["NetfactsFilesNearLimit"] },
        ),
      ],
    },
    {
      title: "NATS, logs and credentials",
      panels: [
        lines(
          "Connected to NATS",
          "short",
          "1 while connected.",
          { [each]: `netfacts_nats_connected${chosen}` },
          { alerts: ["NetfactsNatsDisconnected"] },
        ),
        lines(
          "Rights missing at NATS",
          "short",
          "1 if NATS has refused a subject since the process connected.",
          { [each]: `netfacts_nats_rights_missing${chosen}` },
          { thresholds: [null, 1], alerts: ["NetfactsNatsRightMissing"] },
        ),
        lines(
          "Log lines dropped",
          "short",
          "Log lines dropped within ten minutes, because the log was not read.",
          { [each]: `increase(netfacts_log_lines_dropped${chosen}[10m])` },
          { thresholds: [1, 1_000], alerts: ["NetfactsLogLinesDropped"] },
        ),
        lines(
          "Credentials for NATS expire in",
          "s",
          "Time until the credential in a file expires. No line: it does not expire, or none is set.",
          { "{{credential}} {{service}} {{instance}}": `netfacts_credential_expiry_timestamp_seconds${chosen} - time()` },
          { alerts: ["NetfactsCredentialExpiresSoon", "NetfactsCredentialExpiresNow"], mayBeNegative: true },
        ),
      ],
    },
  ],
};
