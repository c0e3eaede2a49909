/** Alerts on the data: what pods serve, and what ingest fetches and publishes. */

import { type Alert, hours, minutes, type Times } from "./alert.ts";

/** Gauges of a process that led before keep their last value. */
export const atLeader = "and on (namespace, job, instance) netfacts_ingest_leads == 1";
const pods = 'service=~"ip-routing|asn-prefix"';

export function dataAlerts(time: Times): Alert[] {
  return [
    {
      name: "NetfactsSectionStale",
      expr: "max by (namespace, section) (netfacts_section_stale) == 1",
      holds: time(10 * minutes),
      severity: "warning",
      summary: "Section {{ $labels.section }} is older than its sources allow",
      description: "Answers from this section are marked as stale. Its sources have published nothing usable for too long.",
    },
    {
      name: "NetfactsSnapshotRejected",
      expr: "max by (namespace, service, instance) (netfacts_snapshot_stale) == 1",
      holds: time(5 * minutes),
      severity: "critical",
      summary: "{{ $labels.service }} at {{ $labels.instance }} rejects the newest snapshot",
      description: "The pod continues to serve an older snapshot, and marks its answers as stale.",
    },
    {
      name: "NetfactsSnapshotsDiffer",
      expr: "max by (namespace) (netfacts_snapshot_digest) != min by (namespace) (netfacts_snapshot_digest)",
      holds: time(5 * minutes),
      severity: "critical",
      summary: "Pods serve different snapshots",
      description: "The same request gets different answers, depending on the pod that it reaches.",
    },
    {
      name: "NetfactsPodWithoutSnapshot",
      expr: `netfacts_process_info{${pods}} unless on (namespace, job, instance) netfacts_snapshot_digest`,
      holds: time(10 * minutes),
      severity: "critical",
      summary: "{{ $labels.service }} at {{ $labels.instance }} has no snapshot",
      description: "The pod is not ready and answers nothing. If no pod of the service has a snapshot, its requests get 503.",
    },
    {
      name: "NetfactsIngestFailing",
      expr:
        `sum by (namespace) (increase(netfacts_ingest_runs_total{outcome="failed"}[${time(hours)}])) > 0` +
        ` unless sum by (namespace) (increase(netfacts_ingest_runs_total{outcome="succeeded"}[${time(hours)}])) > 0`,
      holds: time(5 * minutes),
      severity: "critical",
      summary: "No import of the last hour succeeded",
      description: "Nothing new is published. Callers get the existing data, which become stale.",
    },
    {
      name: "NetfactsSourceFailing",
      expr: `netfacts_ingest_source_failures_in_a_row >= 3 ${atLeader}`,
      holds: time(10 * minutes),
      severity: "warning",
      summary: "Source {{ $labels.source }} failed {{ $value }} times in a row",
      description: "Its last good version stays in use, until its section becomes stale.",
    },
    {
      name: "NetfactsSourceUnusable",
      expr: `netfacts_ingest_source_refused == 1 ${atLeader}`,
      holds: time(10 * minutes),
      severity: "warning",
      summary: "The newest version of source {{ $labels.source }} cannot be used",
      description:
        "It was fetched, and a run could not read or accept it. The previous version stays in use, until its section becomes stale.",
    },
    {
      name: "NetfactsSourceListInvalid",
      expr: `netfacts_ingest_list_faults > 0 ${atLeader}`,
      holds: time(10 * minutes),
      severity: "critical",
      summary: "The list of sources has {{ $value }} errors",
      description: "No source is checked until the list is correct. Callers get the existing data, which become stale.",
    },
    {
      name: "NetfactsSectionRefused",
      expr: `netfacts_ingest_section_refused == 1 ${atLeader}`,
      holds: time(5 * minutes),
      severity: "warning",
      summary: "Section {{ $labels.section }} is kept, because its new version lost too many records",
      description: "Callers get the previous version of the section until somebody accepts the loss or the source is complete again.",
    },
    {
      name: "NetfactsIngestLeadership",
      expr: "sum by (namespace) (netfacts_ingest_leads) != 1",
      holds: time(3 * minutes),
      severity: "critical",
      summary: "{{ $value }} ingest processes lead instead of one",
      description: "Without a leader nothing is fetched, built or activated. Callers get the existing data.",
    },
    {
      name: "NetfactsIngestLeaseErrors",
      expr: `sum by (namespace, instance) (increase(netfacts_ingest_lease_errors_total[${time(5 * minutes)}])) > 0`,
      holds: time(6 * minutes),
      severity: "warning",
      summary: "Ingest at {{ $labels.instance }} cannot reach the store for its lease",
      description: "The leader steps down when its lease expires, and no other process can take over while the store is unavailable.",
    },
    {
      name: "NetfactsRtrWithoutCache",
      expr: `max by (namespace, source) (netfacts_ingest_rtr_synchronised ${atLeader}) == 0`,
      holds: time(10 * minutes),
      severity: "critical",
      summary: "No RTR cache of source {{ $labels.source }} is synchronised",
      description: "The VRPs are kept until they expire. After that, validity is null in every answer.",
    },
  ];
}
