/** The dashboards: what each shows, from what callers see to the processes. */

import { atLeader } from "../alerts/data.ts";
import { availabilityObjective, latencyObjective } from "../alerts/objectives.ts";
import { type Dashboard, each, lines, number, quantile, rate, sum, where } from "./panel.ts";
import { runtime } from "./runtime.ts";

const gateway = 'service="gateway-auth-quota"';
const api = `${gateway},route=~"/api/.*"`;
/** Without the last digits of a binary fraction. */
const rounded = (value: number) => Number(value.toPrecision(6));
const percent = (share: number) => rounded(share * 100);

const overview: Dashboard = {
  name: "overview",
  title: "Netfacts / Overview",
  description: "What callers see: requests, errors, latency, limits and the age of the data.",
  rows: [
    {
      title: "Now",
      panels: [
        number("Requests", "reqps", "Requests to the API per second.", { requests: sum(rate("netfacts_http_requests_total", api)) }),
        number(
          "Failed",
          "percentunit",
          `Share of the requests of the last hour with a 5xx. The objective is ${percent(1 - availabilityObjective)} % at most, over 30 days.`,
          { failed: `netfacts:failed_requests:ratio_rate1h${where()}` },
          {
            thresholds: [rounded(1 - availabilityObjective), 0.0144],
            alerts: ["NetfactsErrorBudgetBurnsFast", "NetfactsErrorBudgetBurnsSlowly"],
          },
        ),
        number(
          "Slow lookups",
          "percentunit",
          `Share of the lookups of the last hour that took longer than 250 ms. The objective is ${percent(1 - latencyObjective)} % at most, over 30 days.`,
          { slow: `netfacts:slow_lookups:ratio_rate1h${where()}` },
          {
            thresholds: [rounded(1 - latencyObjective), 0.144],
            alerts: ["NetfactsLatencyBudgetBurnsFast", "NetfactsLatencyBudgetBurnsSlowly"],
          },
        ),
        number(
          "Stale sections",
          "short",
          "Sections in service that are older than their sources allow.",
          { stale: `sum(max by (namespace, section) (netfacts_section_stale${where()}))` },
          { thresholds: [null, 1], alerts: ["NetfactsSectionStale"] },
        ),
      ],
    },
    {
      title: "Requests",
      panels: [
        lines(
          "Requests by status",
          "reqps",
          "All requests. 4xx is the caller's mistake, 5xx is ours; `aborted` are clients that left first.",
          {
            "{{status}}": sum(rate("netfacts_http_requests_total", gateway), "status"),
          },
        ),
        lines("Requests by route", "reqps", "`none` are requests for no route.", {
          "{{route}}": sum(rate("netfacts_http_requests_total", gateway), "route"),
        }),
        lines(
          "Latency",
          "s",
          "Time from the first line of the request to the last byte of the response, of lookups without batches and reverse DNS.",
          Object.fromEntries(
            [0.5, 0.9, 0.99].map((share) => [
              `${share * 100} %`,
              quantile(share, "netfacts_http_request_duration_seconds", `${api},route!~".*/(batch|reverse-dns).*"`),
            ]),
          ),
          { thresholds: [null, 0.25], alerts: ["NetfactsLatencyBudgetBurnsFast"] },
        ),
        lines(
          "Failed requests by route",
          "reqps",
          "Requests with a 5xx. Their problem documents name the cause.",
          { "{{route}} {{status}}": sum(rate("netfacts_http_requests_total", `${gateway},status=~"5.."`), "route", "status") },
          { alerts: ["NetfactsErrorBudgetBurnsFast"] },
        ),
        lines("Decisions of limits", "reqps", "`admitted`, or the code of the refusal.", {
          "{{decision}}": sum(rate("netfacts_limit_decisions_total", gateway), "decision"),
        }),
        lines(
          "Error budget spent per hour, as multiple of the even rate",
          "short",
          "1 uses the budget of 30 days up in 30 days. Alerts: 14.4, and 6 for hours.",
          {
            failed: `netfacts:failed_requests:ratio_rate1h${where()} / ${rounded(1 - availabilityObjective)}`,
            slow: `netfacts:slow_lookups:ratio_rate1h${where()} / ${rounded(1 - latencyObjective)}`,
          },
        ),
      ],
    },
  ],
};

const data: Dashboard = {
  name: "data",
  title: "Netfacts / Data and freshness",
  description: "Which data pods serve, how old they are, and whether all pods serve the same.",
  rows: [
    {
      title: "Freshness",
      panels: [
        lines(
          "Age of each section",
          "s",
          "Age of the oldest source of a section.",
          { "{{section}}": `time() - min by (section) (netfacts_section_as_of_seconds${where()})` },
          { alerts: ["NetfactsSectionStale"] },
        ),
        lines(
          "Stale",
          "short",
          "1 while a section is older than its sources allow.",
          { "{{section}}": `max by (section) (netfacts_section_stale${where()})` },
          { thresholds: [null, 1], alerts: ["NetfactsSectionStale"] },
        ),
      ],
    },
    {
      title: "Snapshots",
      panels: [
        number(
          "Different snapshots in service",
          "short",
          "1 is right. More for seconds during a change is normal.",
          { snapshots: `max(count by (namespace) (count_values by (namespace) ("digest", netfacts_snapshot_digest${where()})))` },
          { thresholds: [2, 3], alerts: ["NetfactsSnapshotsDiffer"] },
        ),
        number(
          "Pods without a snapshot",
          "short",
          "They are not ready.",
          {
            pods: `count(netfacts_process_info${where('service=~"ip-routing|asn-prefix"')} unless on (namespace, job, instance) netfacts_snapshot_digest) or vector(0)`,
          },
          { thresholds: [null, 1], alerts: ["NetfactsPodWithoutSnapshot"] },
        ),
        lines(
          "Rejected",
          "short",
          "1 while a pod rejects the newest snapshot and serves an older one.",
          { [each]: `netfacts_snapshot_stale${where()}` },
          { thresholds: [null, 1], alerts: ["NetfactsSnapshotRejected"] },
        ),
        lines("Loads", "short", "Snapshots loaded in the last hour, by outcome.", {
          "{{service}} {{outcome}}": sum(`increase(netfacts_snapshot_loads_total${where()}[1h])`, "service", "outcome"),
        }),
      ],
    },
    {
      title: "The past",
      panels: [
        number(
          "Snapshots kept",
          "short",
          "Publications that `as_of` can ask about, with those for rollbacks. The leader of ingest counts them.",
          {
            kept: `max(netfacts_history_publications${where()})`,
          },
        ),
        number("Kept since", "s", "Age of the earliest publication that `as_of` can ask about.", {
          age: `time() - min(netfacts_history_earliest_timestamp_seconds${where()})`,
        }),
        number(
          "Size of the store",
          "bytes",
          "Objects of all kept snapshots, each once. `SNAPSHOT_DAYS_MIB_MAX` limits those of earlier days.",
          {
            size: `max(netfacts_history_store_bytes${where()})`,
          },
        ),
        number("Threads replaced", "short", "Threads for requests about the past that failed in the last day.", {
          threads: `sum(increase(netfacts_history_thread_failures_total${where()}[1d]))`,
        }),
        lines("Requests about the past", "ops", "`answered`, or the code of the problem.", {
          "{{service}} {{result}}": sum(rate("netfacts_history_requests_total"), "service", "result"),
        }),
        lines(
          "Waiting",
          "short",
          "Requests about the past that wait for their answers. Each process has room for 256, and one key for at most 192.",
          {
            [each]: `netfacts_history_waiting${where()}`,
          },
        ),
        lines("Memory of the past", "bytes", "Snapshots of the past in memory, without what they share with those in service.", {
          [each]: `netfacts_history_bytes${where()}`,
        }),
        lines("Loads of the past", "short", "Snapshots of the past loaded in the last hour, by outcome.", {
          "{{service}} {{outcome}}": sum(`increase(netfacts_history_loads_total${where()}[1h])`, "service", "outcome"),
        }),
      ],
    },
  ],
};

const keys: Dashboard = {
  name: "gateway",
  title: "Netfacts / Gateway and keys",
  description: "Keys, limits, usage, connections and batches at the gateways.",
  rows: [
    {
      title: "Keys and limits",
      panels: [
        lines("Keys checked", "reqps", "`ok`, or the code of the refusal.", {
          "{{outcome}}": sum(rate("netfacts_key_verifications_total"), "outcome"),
        }),
        lines(
          "Keys read from the store",
          "reqps",
          "Keys that the cache did not have. `failed` means that the database did not answer.",
          { "{{outcome}}": sum(rate("netfacts_key_loads_total"), "outcome") },
          { alerts: ["NetfactsStoreUnavailable"] },
        ),
        lines(
          "Rejected, as limits cannot be leased",
          "reqps",
          "Requests that got 503 limits_unavailable because the store is unavailable.",
          { "{{instance}}": sum(rate("netfacts_limit_decisions_total", 'decision="limits_unavailable"'), "instance") },
          { thresholds: [null, 0.001], alerts: ["NetfactsLimitStoreUnavailable"] },
        ),
        number(
          "Debt written off",
          "short",
          "Units admitted in the last day while the store was unavailable that could not be charged later.",
          { units: `sum(increase(netfacts_limit_debt_units_total${where('event="written_off"')}[1d])) or vector(0)` },
          { thresholds: [1, 1_000], alerts: ["NetfactsLimitDebt"] },
        ),
        lines(
          "Writes of usage",
          "ops",
          "Batches of usage counts written to the store.",
          { "{{outcome}}": sum(rate("netfacts_usage_writes_total"), "outcome") },
          { alerts: ["NetfactsStoreUnavailable"] },
        ),
        lines("Usage not yet written", "short", "Requests whose usage would be lost if the gateway were killed.", {
          "{{instance}}": `netfacts_usage_unwritten_requests${where()}`,
        }),
      ],
    },
    {
      title: "Connections and batches",
      panels: [
        lines(
          "Places in use",
          "percentunit",
          "Share of the places of each bounded resource in use.",
          { "{{resource}} {{instance}}": `netfacts_places_used${where()} / netfacts_places_max${where()}` },
          { thresholds: [0.7, 0.9], alerts: ["NetfactsPlacesNearlyUsed"] },
        ),
        lines(
          "Refused for lack of places",
          "ops",
          "`full`: all places were in use. `share`: the caller had its share. `surplus`: a batch that ended for another key.",
          { "{{resource}} {{reason}}": sum(rate("netfacts_shortages_total"), "resource", "reason") },
          { alerts: ["NetfactsConnectionsRefused"] },
        ),
        lines("Whois requests", "ops", "Requests, and lines of bulk requests, by kind of resource and outcome. Empty while whois is off.", {
          "{{kind}} {{outcome}}": sum(rate("netfacts_whois_requests_total"), "kind", "outcome"),
        }),
        lines("Requests in progress", "short", "At each gateway.", { "{{instance}}": `netfacts_http_requests_in_flight${where()}` }),
        lines("Batch items", "ops", "Results of batches, by kind of item.", {
          "{{kind}} {{outcome}}": sum(rate("netfacts_batch_items_total"), "kind", "outcome"),
        }),
        lines("Requests to operators' routes", "reqps", "Requests below /admin, by status.", {
          "{{route}} {{status}}": sum(rate("netfacts_http_requests_total", 'route=~"/admin/.*"'), "route", "status"),
        }),
      ],
    },
  ],
};

const lookups: Dashboard = {
  name: "lookups",
  title: "Netfacts / Lookups",
  description: "Requests between gateways and the services that answer them, over NATS.",
  rows: [
    {
      title: "From the gateways",
      panels: [
        lines("Items sent", "ops", "Requests to each service, by lane.", {
          "{{to}} {{lane}}": sum(rate("netfacts_items_sent_total"), "to", "lane"),
        }),
        lines("Items in a frame", "short", "More items in a frame mean less work for each.", {
          "{{to}} {{lane}}": `${sum(rate("netfacts_items_sent_total"), "to", "lane")} / ${sum(rate("netfacts_frames_sent_total"), "to", "lane")}`,
        }),
        lines("Frames in flight", "short", "At most 16 single and 4 batch frames wait for replies at each gateway.", {
          "{{to}} {{lane}} {{instance}}": `netfacts_frames_in_flight${where()}`,
        }),
        lines("Sent a second time", "ops", "Items whose first copy did not answer.", {
          "{{to}} {{reason}}": sum(rate("netfacts_items_retried_total"), "to", "reason"),
        }),
        lines(
          "Without a reply",
          "ops",
          "Requests that ended without a reply: callers got 503 or 504.",
          { "{{to}} {{code}}": sum(rate("netfacts_requests_unanswered_total"), "to", "code") },
          { alerts: ["NetfactsServiceUnanswered"] },
        ),
        lines("Bytes sent", "Bps", "Bytes of request frames.", {
          "{{to}} {{lane}}": sum(rate("netfacts_frame_sent_bytes_total"), "to", "lane"),
        }),
      ],
    },
    {
      title: "At the services",
      panels: [
        lines("Items served", "ops", "By process: copies of a service should have like shares.", {
          [each]: sum(rate("netfacts_items_served_total"), "service", "instance"),
        }),
        lines("Processor time of each item", "s", "Processor time of the process by items served.", {
          [each]: `rate(process_cpu_seconds_total${where()}[$__rate_interval]) / on (namespace, job, instance) group_right () sum by (namespace, job, instance, service) (${rate("netfacts_items_served_total")})`,
        }),
        lines(
          "Event loop",
          "s",
          "99th percentile of the delay of the event loop.",
          {
            [each]: `nodejs_eventloop_lag_p99_seconds${where()} * on (namespace, job, instance) group_left (service) netfacts_process_info`,
          },
          { thresholds: [0.1, 0.25], alerts: ["NetfactsEventLoopDelayed"] },
        ),
        lines(
          "Messages that cannot be read",
          "ops",
          "Frames and broadcasts that were refused.",
          {
            "frames {{service}}": sum(rate("netfacts_frames_refused_total"), "service"),
            "broadcasts {{service}}": sum(rate("netfacts_broadcasts_refused_total"), "service"),
          },
          { thresholds: [null, 0.001], alerts: ["NetfactsMessagesMalformed"] },
        ),
      ],
    },
  ],
};

const reverseDns: Dashboard = {
  name: "reverse-dns",
  title: "Netfacts / Reverse DNS",
  description: "Lookups of rdns-resolver, its cache and its nameservers.",
  rows: [
    {
      title: "Lookups",
      panels: [
        lines("Lookups by outcome", "ops", "All lookups, cached or not.", {
          "{{outcome}}": sum(rate("netfacts_rdns_lookups_total"), "outcome"),
        }),
        lines("Answered from the cache", "percentunit", "Share of the lookups that asked no nameserver.", {
          cached: `sum(${rate("netfacts_rdns_lookups_total", 'hit="true"')}) / sum(${rate("netfacts_rdns_lookups_total")})`,
        }),
        lines(
          "Failed",
          "percentunit",
          "Share of the lookups that asked nameservers and got no usable answer.",
          {
            failed: `sum(${rate("netfacts_rdns_lookups_total", 'hit="false",outcome=~"servfail|refused|timeout|unavailable|overloaded"')}) / sum(${rate("netfacts_rdns_lookups_total", 'hit="false"')})`,
          },
          { thresholds: [0.1, 0.2], alerts: ["NetfactsReverseDnsFailing"] },
        ),
        lines("Time of lookups that asked nameservers", "s", "Slow delegations in the world are normal.", {
          "50 %": quantile(0.5, "netfacts_rdns_resolution_duration_seconds"),
          "99 %": quantile(0.99, "netfacts_rdns_resolution_duration_seconds"),
        }),
      ],
    },
    {
      title: "Nameservers and cache",
      panels: [
        lines(
          "Nameservers that answer",
          "short",
          "1 while it answers. No line: it was not asked yet.",
          { "{{server}} {{instance}}": `netfacts_rdns_nameserver_up${where()}` },
          { alerts: ["NetfactsResolversDown", "NetfactsResolverDown"] },
        ),
        lines("Queries sent", "ops", "Queries to nameservers, by transport.", {
          "{{transport}}": sum(rate("netfacts_rdns_questions_total"), "transport"),
        }),
        lines("Messages dropped", "ops", "Messages that matched no open query or could not be parsed: late, forged or damaged.", {
          "{{reason}}": sum(rate("netfacts_rdns_dropped_messages_total"), "reason"),
        }),
        lines("Cached answers", "short", "Answers in the cache of each process.", {
          "{{instance}}": `netfacts_rdns_cache_entries${where()}`,
        }),
        lines(
          "Shared cache",
          "ops",
          "Reads of the cache that replicas share. They are `skipped` for a second after one `failed`, and while many are in progress.",
          {
            "{{outcome}}": sum(rate("netfacts_rdns_shared_cache_reads_total"), "outcome"),
          },
        ),
        lines("Expired answers returned", "ops", "Expired answers that were returned because DNS gave no newer one.", {
          "{{instance}}": sum(rate("netfacts_rdns_stale_answers_total"), "instance"),
        }),
        lines("Lookups in progress", "short", "Names that are being looked up.", { "{{instance}}": `netfacts_rdns_in_flight${where()}` }),
      ],
    },
  ],
};

const ingest: Dashboard = {
  name: "ingest",
  title: "Netfacts / Ingest",
  description: "Runs, sources, RTR caches and the leader.",
  rows: [
    {
      title: "Runs",
      panels: [
        number(
          "Leaders",
          "short",
          "1 is right.",
          { leaders: `sum(netfacts_ingest_leads${where()})` },
          { thresholds: [null, 2], alerts: ["NetfactsIngestLeadership", "NetfactsIngestLeaseErrors"] },
        ),
        lines(
          "Runs of the last hour",
          "short",
          "Runs that ended, by outcome.",
          { "{{outcome}}": sum(`increase(netfacts_ingest_runs_total${where()}[1h])`, "outcome") },
          { alerts: ["NetfactsIngestFailing"] },
        ),
        lines("Duration of runs", "s", "Median of the runs of the last hours.", {
          "{{outcome}}": `histogram_quantile(0.5, sum by (le, outcome) (increase(netfacts_ingest_run_duration_seconds_bucket${where()}[6h])))`,
        }),
        lines("Pods at the last activation", "short", "Pods by what they reported about the snapshot that was activated last.", {
          "{{outcome}}": sum(`netfacts_ingest_pods${where()} ${atLeader}`, "outcome"),
        }),
        lines(
          "Sections kept because they shrank",
          "short",
          "1 while the new version of a section is refused.",
          { "{{section}}": `max by (section) (netfacts_ingest_section_refused${where()} ${atLeader})` },
          { thresholds: [null, 1], alerts: ["NetfactsSectionRefused"] },
        ),
        lines(
          "Lease errors",
          "ops",
          "Times that the store did not answer about the lease of the leader.",
          { "{{instance}}": rate("netfacts_ingest_lease_errors_total") },
          { alerts: ["NetfactsIngestLeaseErrors"] },
        ),
      ],
    },
    {
      title: "Sources",
      panels: [
        lines("Since the last success", "s", "Time since a check last found that the newest version of a source is here, or fetched it.", {
          "{{source}}": `time() - max by (source) (netfacts_ingest_source_success_timestamp_seconds${where()})`,
        }),
        lines(
          "Failures in a row",
          "short",
          "Checks of a source that failed since the last one that succeeded.",
          { "{{source}}": `max by (source) (netfacts_ingest_source_failures_in_a_row${where()} ${atLeader})` },
          { thresholds: [1, 3], alerts: ["NetfactsSourceFailing"] },
        ),
        lines(
          "Unusable versions",
          "short",
          "1 while the newest version of a source cannot be used.",
          { "{{source}}": `max by (source) (netfacts_ingest_source_refused${where()} ${atLeader})` },
          { thresholds: [null, 1], alerts: ["NetfactsSourceUnusable"] },
        ),
        lines(
          "Errors in the list",
          "short",
          "Errors in the list of sources. While there are any, no source is checked.",
          { "{{instance}}": `netfacts_ingest_list_faults${where()} ${atLeader}` },
          { thresholds: [null, 1], alerts: ["NetfactsSourceListInvalid"] },
        ),
        lines("Records", "short", "Records of each source that were accepted.", {
          "{{source}}": `max by (source) (netfacts_ingest_source_records${where('outcome="accepted"')} ${atLeader})`,
        }),
        lines("Records skipped", "short", "Records of each source that were not used.", {
          "{{source}}": `max by (source) (netfacts_ingest_source_records${where('outcome="skipped"')} ${atLeader})`,
        }),
        lines("Failed readings", "short", "Readings of a source that failed in the last hour.", {
          "{{source}}": sum(`increase(netfacts_ingest_source_failures_total${where()}[1h])`, "source"),
        }),
        lines("Checks", "short", "Checks of sources with a URL in the last hour, by outcome.", {
          "{{source}} {{outcome}}": sum(`increase(netfacts_ingest_source_fetches_total${where()}[1h])`, "source", "outcome"),
        }),
        lines("Downloads", "Bps", "Bytes fetched for each source.", {
          "{{source}}": sum(rate("netfacts_ingest_source_fetched_bytes_total"), "source"),
        }),
      ],
    },
    {
      title: "RTR",
      panels: [
        lines(
          "Sessions",
          "short",
          "1 while the session with a cache is established and its data are complete.",
          { "{{source}} {{cache}}": `netfacts_ingest_rtr_synchronised${where()} ${atLeader}` },
          { alerts: ["NetfactsRtrWithoutCache"] },
        ),
        lines("VRPs", "short", "VRPs received from each cache.", {
          "{{source}} {{cache}}": `netfacts_ingest_rtr_vrps${where()} ${atLeader}`,
        }),
        lines("Changes", "ops", "VRPs added and withdrawn.", {
          "{{source}} {{direction}}": sum(rate("netfacts_ingest_rtr_vrp_changes_total"), "source", "direction"),
        }),
      ],
    },
  ],
};

export const dashboards: readonly Dashboard[] = [overview, data, keys, lookups, reverseDns, ingest, runtime];
