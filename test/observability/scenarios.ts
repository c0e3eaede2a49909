/** Situations of an installation, as series of its metrics, and the alerts that each must cause: these, and no other. */

/** Series by name with labels; values as promtool writes them, one a minute: `0+10x90`. */
export type Series = Readonly<Record<string, string>>;

export interface Scenario {
  readonly name: string;
  /** Replaces or adds series of a healthy installation; null takes one away. */
  readonly changes: Readonly<Record<string, string | null>>;
  /** When it is looked at, in minutes. */
  readonly atMinutes: number;
  /** By the alert's name: its labels beside `alertname`, `severity` and `namespace`, and its summary. */
  readonly fires: Readonly<Record<string, readonly [labels: Readonly<Record<string, string>>, summary: string]>>;
}

/** Labels of a series from one process, as Kubernetes' service discovery and our metrics give them. */
function of(service: string, more = "", copy = 0): string {
  return `{namespace="n",job="${service}",instance="${service}-${copy}",service="${service}"${more === "" ? "" : `,${more}`}}`;
}

/** The same without the label `service`, which the metrics of a Node process lack. */
function ofProcess(service: string, copy = 0): string {
  return `{namespace="n",job="${service}",instance="${service}-${copy}"}`;
}

/** The same as labels of an alert. */
function at(service: string, copy = 0): Readonly<Record<string, string>> {
  return { job: service, instance: `${service}-${copy}`, service };
}

const gateway = "gateway-auth-quota";
const places: readonly (readonly [service: string, copies: number])[] = [
  [gateway, 2],
  ["ip-routing", 2],
  ["asn-prefix", 1],
  ["rdns-resolver", 1],
  ["ingest", 2],
];
const route = 'route="/api/v1/ip/:address"';
const gib = 1_073_741_824;

export const healthy: Series = Object.fromEntries([
  ...places.flatMap(([service, copies]) =>
    Array.from({ length: copies }, (_, copy): [string, string][] => [
      [`up${ofProcess(service, copy)}`, "1x440"],
      [`netfacts_process_info${of(service, "", copy)}`, "1x440"],
      [`netfacts_ready${of(service, "", copy)}`, "1x440"],
      [`netfacts_nats_connected${of(service, "", copy)}`, "1x440"],
      [`netfacts_nats_rights_missing${of(service, "", copy)}`, "0x440"],
      [`netfacts_log_lines_dropped${of(service, "", copy)}`, "0x440"],
      [`netfacts_memory_limit_bytes${of(service, "", copy)}`, `${gib}x440`],
      [`netfacts_heap_limit_bytes${of(service, "", copy)}`, `${gib / 2}x440`],
      [`process_resident_memory_bytes${ofProcess(service, copy)}`, `${gib / 2}x440`],
      [`nodejs_heap_size_used_bytes${ofProcess(service, copy)}`, `${gib / 4}x440`],
      [`nodejs_eventloop_lag_p99_seconds${ofProcess(service, copy)}`, "0.012x440"],
      [`process_start_time_seconds${ofProcess(service, copy)}`, "1000x440"],
      [`process_open_fds${ofProcess(service, copy)}`, "40x440"],
      [`process_max_fds${ofProcess(service, copy)}`, "1024x440"],
    ]).flat(),
  ),
  [`netfacts_http_requests_total${of(gateway, `${route},status="200"`)}`, "0+2000x440"],
  [`netfacts_http_requests_total${of(gateway, `${route},status="503"`)}`, "0x440"],
  // What callers get wrong, and what was not found, is no failure.
  [`netfacts_http_requests_total${of(gateway, `${route},status="400"`)}`, "0+500x440"],
  [`netfacts_http_request_duration_seconds_bucket${of(gateway, `${route},le="0.25"`)}`, "0+2000x440"],
  [`netfacts_http_request_duration_seconds_count${of(gateway, route)}`, "0+2000x440"],
  // Slow by nature.
  [`netfacts_http_request_duration_seconds_bucket${of(gateway, 'route="/api/v1/reverse-dns/:address",le="0.25"')}`, "0x440"],
  [`netfacts_http_request_duration_seconds_count${of(gateway, 'route="/api/v1/reverse-dns/:address"')}`, "0+500x440"],
  [`netfacts_limit_decisions_total${of(gateway, 'decision="admitted"')}`, "0+2000x440"],
  [`netfacts_limit_decisions_total${of(gateway, 'decision="limits_unavailable"')}`, "0x440"],
  [`netfacts_limit_debt_units_total${of(gateway, 'event="written_off",policy="rate"')}`, "0x440"],
  [`netfacts_store_available${of(gateway)}`, "1x440"],
  [`netfacts_store_available${of(gateway, "", 1)}`, "1x440"],
  [`netfacts_key_loads_total${of(gateway, 'outcome="failed"')}`, "0x440"],
  [`netfacts_usage_writes_total${of(gateway, 'outcome="failed"')}`, "0x440"],
  [`netfacts_shortages_total${of(gateway, 'resource="connections",reason="full"')}`, "0x440"],
  // One caller that wants more than its share.
  [`netfacts_shortages_total${of(gateway, 'resource="connections",reason="share"')}`, "0+50x440"],
  [`netfacts_places_used${of(gateway, 'resource="connections"')}`, "400x440"],
  [`netfacts_places_max${of(gateway, 'resource="connections"')}`, "4096x440"],
  [`netfacts_items_sent_total${of(gateway, 'to="ip-routing",lane="single"')}`, "0+2000x440"],
  [`netfacts_requests_unanswered_total${of(gateway, 'to="ip-routing",lane="single",code="timeout"')}`, "0x440"],
  [`netfacts_frames_refused_total${of("ip-routing", 'lane="single"')}`, "0x440"],
  [`netfacts_rdns_nameserver_up${of("rdns-resolver", 'server="192.0.2.1"')}`, "1x440"],
  [`netfacts_rdns_nameserver_up${of("rdns-resolver", 'server="192.0.2.2"')}`, "1x440"],
  [`netfacts_rdns_lookups_total${of("rdns-resolver", 'outcome="ok",hit="false"')}`, "0+100x440"],
  [`netfacts_rdns_lookups_total${of("rdns-resolver", 'outcome="servfail",hit="false"')}`, "0+5x440"],
  [`netfacts_credential_expiry_timestamp_seconds${of("ingest", 'credential="NATS_CERT_FILE"')}`, `${90 * 86_400}x440`],
  [`netfacts_snapshot_digest${of("ip-routing")}`, "77x440"],
  [`netfacts_snapshot_digest${of("ip-routing", "", 1)}`, "77x440"],
  [`netfacts_snapshot_digest${of("asn-prefix")}`, "77x440"],
  [`netfacts_snapshot_stale${of("ip-routing")}`, "0x440"],
  [`netfacts_section_stale${of("ip-routing", 'section="vrps"')}`, "0x440"],
  [`netfacts_section_stale${of("asn-prefix", 'section="vrps"')}`, "0x440"],
  [`netfacts_ingest_leads${of("ingest")}`, "1x440"],
  [`netfacts_ingest_leads${of("ingest", "", 1)}`, "0x440"],
  [`netfacts_ingest_lease_errors_total${of("ingest")}`, "0x440"],
  [`netfacts_ingest_runs_total${of("ingest", 'outcome="succeeded"')}`, "0+1x440"],
  // One failed run between others that succeed.
  [`netfacts_ingest_runs_total${of("ingest", 'outcome="failed"')}`, "0x10 1x440"],
  [`netfacts_ingest_source_failures_in_a_row${of("ingest", 'source="ripencc"')}`, "2x440"],
  [`netfacts_ingest_source_refused${of("ingest", 'source="ripencc"')}`, "0x440"],
  [`netfacts_ingest_list_faults${of("ingest")}`, "0x440"],
  [`netfacts_ingest_section_refused${of("ingest", 'section="routes"')}`, "0x440"],
  // What a former leader saw last.
  [`netfacts_ingest_source_failures_in_a_row${of("ingest", 'source="ripencc"', 1)}`, "9x440"],
  [`netfacts_ingest_section_refused${of("ingest", 'section="routes"', 1)}`, "1x440"],
  [`netfacts_ingest_rtr_synchronised${of("ingest", 'source="rtr",cache="a"')}`, "0x440"],
  [`netfacts_ingest_rtr_synchronised${of("ingest", 'source="rtr",cache="b"')}`, "1x440"],
]);

const failed = `netfacts_http_requests_total${of(gateway, `${route},status="503"`)}`;
const requests = `netfacts_http_requests_total${of(gateway, `${route},status="200"`)}`;
const others = `netfacts_http_requests_total${of(gateway, `${route},status="400"`)}`;
const fast = `netfacts_http_request_duration_seconds_bucket${of(gateway, `${route},le="0.25"`)}`;
const processMetrics = Object.keys(healthy).filter((series) => series.includes('instance="rdns-resolver-0"'));

/** Values of an hour in which a process runs in one minute of six. */
const everySixMinutes = (running: (minute: number) => string, otherwise: string): string =>
  Array.from({ length: 60 }, (_, minute) => (minute % 6 === 0 ? running(minute) : otherwise)).join(" ");

export const scenarios: readonly Scenario[] = [
  { name: "a healthy installation", changes: {}, atMinutes: 60, fires: {} },
  {
    name: "one request in twenty fails",
    changes: { [failed]: "0+125x440" },
    atMinutes: 70,
    fires: {
      NetfactsErrorBudgetBurnsFast: [{}, "4.762% of requests to the API fail"],
      NetfactsErrorBudgetBurnsSlowly: [{}, "4.762% of requests to the API fail, for hours"],
    },
  },
  {
    name: "four requests in a thousand fail for hours",
    changes: { [failed]: "0+10x440" },
    atMinutes: 60,
    fires: { NetfactsErrorBudgetBurnsSlowly: [{}, "0.3984% of requests to the API fail, for hours"] },
  },
  {
    name: "one request in twenty failed until half an hour ago",
    changes: { [failed]: "0+125x60 7500x440" },
    atMinutes: 95,
    fires: { NetfactsErrorBudgetBurnsSlowly: [{}, "3.061% of requests to the API fail, for hours"] },
  },
  {
    name: "a few requests, of which most fail",
    changes: { [requests]: "0x440", [others]: "0x440", [failed]: "0x20 1 2 3 4x440" },
    atMinutes: 60,
    fires: {},
  },
  {
    name: "a third of the lookups is slow",
    changes: { [fast]: "0+1333x440" },
    atMinutes: 70,
    fires: {
      NetfactsLatencyBudgetBurnsFast: [{}, "33.35% of lookups take longer than 250 ms"],
      NetfactsLatencyBudgetBurnsSlowly: [{}, "33.35% of lookups take longer than 250 ms, for hours"],
    },
  },
  {
    name: "a section is too old",
    changes: { [`netfacts_section_stale${of("ip-routing", 'section="vrps"')}`]: "1x440" },
    atMinutes: 20,
    fires: { NetfactsSectionStale: [{ section: "vrps" }, "Section vrps is older than its sources allow"] },
  },
  {
    name: "a pod rejects the newest snapshot",
    changes: { [`netfacts_snapshot_stale${of("ip-routing")}`]: "0 1x440" },
    atMinutes: 20,
    fires: {
      NetfactsSnapshotRejected: [
        { service: "ip-routing", instance: "ip-routing-0" },
        "ip-routing at ip-routing-0 rejects the newest snapshot",
      ],
    },
  },
  {
    name: "one pod serves another snapshot",
    changes: { [`netfacts_snapshot_digest${of("asn-prefix")}`]: "77x5 78x440" },
    atMinutes: 20,
    fires: { NetfactsSnapshotsDiffer: [{}, "Pods serve different snapshots"] },
  },
  {
    name: "pods take a new snapshot one after the other",
    changes: {
      [`netfacts_snapshot_digest${of("asn-prefix")}`]: "77x5 78x440",
      [`netfacts_snapshot_digest${of("ip-routing")}`]: "77x6 78x440",
      [`netfacts_snapshot_digest${of("ip-routing", "", 1)}`]: "77x7 78x440",
    },
    atMinutes: 8,
    fires: {},
  },
  {
    name: "a pod gets no snapshot",
    changes: { [`netfacts_snapshot_digest${of("asn-prefix")}`]: null },
    atMinutes: 20,
    fires: { NetfactsPodWithoutSnapshot: [at("asn-prefix"), "asn-prefix at asn-prefix-0 has no snapshot"] },
  },
  {
    name: "every run fails",
    changes: {
      [`netfacts_ingest_runs_total${of("ingest", 'outcome="succeeded"')}`]: "7x440",
      [`netfacts_ingest_runs_total${of("ingest", 'outcome="failed"')}`]: "0x10 1x15 2x440",
    },
    atMinutes: 30,
    fires: { NetfactsIngestFailing: [{}, "No import of the last hour succeeded"] },
  },
  {
    name: "a source fails three times in a row",
    changes: { [`netfacts_ingest_source_failures_in_a_row${of("ingest", 'source="ripencc"')}`]: "3x440" },
    atMinutes: 20,
    fires: { NetfactsSourceFailing: [{ ...at("ingest"), source: "ripencc" }, "Source ripencc failed 3 times in a row"] },
  },
  {
    name: "the newest version of a source cannot be used",
    changes: { [`netfacts_ingest_source_refused${of("ingest", 'source="ripencc"')}`]: "1x440" },
    atMinutes: 20,
    fires: { NetfactsSourceUnusable: [{ ...at("ingest"), source: "ripencc" }, "The newest version of source ripencc cannot be used"] },
  },
  {
    name: "the list of sources has errors",
    changes: { [`netfacts_ingest_list_faults${of("ingest")}`]: "2x440" },
    atMinutes: 20,
    fires: { NetfactsSourceListInvalid: [at("ingest"), "The list of sources has 2 errors"] },
  },
  {
    name: "a section lost too many records",
    changes: { [`netfacts_ingest_section_refused${of("ingest", 'section="routes"')}`]: "1x440" },
    atMinutes: 20,
    fires: {
      NetfactsSectionRefused: [
        { ...at("ingest"), section: "routes" },
        "Section routes is kept, because its new version lost too many records",
      ],
    },
  },
  {
    name: "no process of ingest leads, as the store does not answer",
    changes: {
      [`netfacts_ingest_leads${of("ingest")}`]: "1 0x440",
      [`netfacts_ingest_lease_errors_total${of("ingest")}`]: "0+12x440",
    },
    atMinutes: 20,
    fires: {
      NetfactsIngestLeadership: [{}, "0 ingest processes lead instead of one"],
      NetfactsIngestLeaseErrors: [{ instance: "ingest-0" }, "Ingest at ingest-0 cannot reach the store for its lease"],
    },
  },
  {
    name: "no RTR cache is synchronised",
    changes: { [`netfacts_ingest_rtr_synchronised${of("ingest", 'source="rtr",cache="b"')}`]: "0x440" },
    atMinutes: 20,
    fires: { NetfactsRtrWithoutCache: [{ source: "rtr" }, "No RTR cache of source rtr is synchronised"] },
  },
  {
    name: "the database is unavailable",
    changes: {
      [`netfacts_limit_decisions_total${of(gateway, 'decision="limits_unavailable"')}`]: "0+5x440",
      [`netfacts_key_loads_total${of(gateway, 'outcome="failed"')}`]: "0+2x440",
    },
    atMinutes: 20,
    fires: {
      NetfactsLimitStoreUnavailable: [{}, "Gateways cannot lease units of limits"],
      NetfactsStoreUnavailable: [{ instance: "gateway-auth-quota-0" }, "The gateway at gateway-auth-quota-0 cannot use the database"],
    },
  },
  {
    name: "the database is unavailable to a gateway for hours: it is not ready, so that no requests come and nothing is rejected any more",
    changes: {
      [`netfacts_limit_decisions_total${of(gateway, 'decision="limits_unavailable"')}`]: "0 5 10 10x440",
      [`netfacts_store_available${of(gateway)}`]: "0x440",
      [`netfacts_ready${of(gateway)}`]: "1 0x440",
    },
    atMinutes: 200,
    fires: {
      NetfactsLimitStoreUnavailable: [{}, "Gateways cannot lease units of limits"],
      NetfactsStoreUnavailable: [{ instance: "gateway-auth-quota-0" }, "The gateway at gateway-auth-quota-0 cannot use the database"],
    },
  },
  {
    name: "the database elects another primary: for a moment it refuses keys, usage and leases",
    changes: {
      [`netfacts_limit_decisions_total${of(gateway, 'decision="limits_unavailable"')}`]: "0x10 40x440",
      [`netfacts_key_loads_total${of(gateway, 'outcome="failed"')}`]: "0x10 2x440",
      [`netfacts_usage_writes_total${of(gateway, 'outcome="failed"')}`]: "0x10 3x440",
      [`netfacts_store_available${of(gateway)}`]: "1x10 0 1x440",
    },
    atMinutes: 14,
    fires: {},
  },
  {
    name: "no gateway is ready",
    changes: { [`netfacts_ready${of(gateway)}`]: "1x5 0x440", [`netfacts_ready${of(gateway, "", 1)}`]: "1x5 0x440" },
    atMinutes: 10,
    fires: { NetfactsNoGatewayReady: [{}, "No gateway is ready"] },
  },
  {
    name: "a new installation imports for the first time",
    changes: {
      ...Object.fromEntries([0, 1].map((copy) => [`netfacts_ready${of(gateway, "", copy)}`, "0x440"])),
      ...Object.fromEntries(Object.keys(healthy).flatMap((series) => (/_(snapshot|section)_/.test(series) ? [[series, null]] : []))),
    },
    atMinutes: 9,
    fires: {},
  },
  {
    name: "one gateway of two is not ready",
    changes: { [`netfacts_ready${of(gateway)}`]: "1x5 0x440" },
    atMinutes: 20,
    fires: {},
  },
  {
    name: "usage cannot be written",
    changes: { [`netfacts_usage_writes_total${of(gateway, 'outcome="failed"')}`]: "0+12x440" },
    atMinutes: 20,
    fires: {
      NetfactsStoreUnavailable: [{ instance: "gateway-auth-quota-0" }, "The gateway at gateway-auth-quota-0 cannot use the database"],
    },
  },
  {
    name: "debt is written off",
    changes: { [`netfacts_limit_debt_units_total${of(gateway, 'event="written_off",policy="rate"')}`]: "0x10 30x440" },
    atMinutes: 20,
    fires: { NetfactsLimitDebt: [{}, "Units that were admitted without the store were written off"] },
  },
  {
    name: "all connections are in use",
    changes: {
      [`netfacts_shortages_total${of(gateway, 'resource="connections",reason="full"')}`]: "0+3x440",
      [`netfacts_places_used${of(gateway, 'resource="connections"')}`]: "4096x440",
    },
    atMinutes: 20,
    fires: {
      NetfactsConnectionsRefused: [{ resource: "connections" }, "Connections are refused, because all connections of a gateway are in use"],
      NetfactsPlacesNearlyUsed: [{ ...at(gateway), resource: "connections" }, "100% of the connections at gateway-auth-quota-0 are in use"],
    },
  },
  {
    name: "all connections are in use for a moment",
    changes: { [`netfacts_shortages_total${of(gateway, 'resource="connections",reason="full"')}`]: "0x10 3x440" },
    atMinutes: 14,
    fires: {},
  },
  {
    name: "a service does not answer",
    changes: { [`netfacts_requests_unanswered_total${of(gateway, 'to="ip-routing",lane="single",code="timeout"')}`]: "0+100x440" },
    atMinutes: 20,
    fires: { NetfactsServiceUnanswered: [{ to: "ip-routing" }, "5% of the requests to ip-routing end without a reply"] },
  },
  {
    name: "one request times out while few are sent",
    changes: {
      [`netfacts_items_sent_total${of(gateway, 'to="ip-routing",lane="single"')}`]: "0+2x440",
      [`netfacts_requests_unanswered_total${of(gateway, 'to="ip-routing",lane="single",code="timeout"')}`]: "0x14 1x440",
    },
    atMinutes: 19,
    fires: {},
  },
  {
    name: "a new gateway waits for NATS and has not asked the database",
    changes: {
      [`netfacts_ready${of(gateway, "", 1)}`]: "0x440",
      [`netfacts_nats_connected${of(gateway, "", 1)}`]: "0x440",
      [`netfacts_store_available${of(gateway, "", 1)}`]: null,
    },
    atMinutes: 20,
    fires: { NetfactsNatsDisconnected: [at(gateway, 1), "gateway-auth-quota at gateway-auth-quota-1 is not connected to NATS"] },
  },
  {
    name: "a service receives frames that it cannot read",
    changes: { [`netfacts_frames_refused_total${of("ip-routing", 'lane="single"')}`]: "0x10 4x440" },
    atMinutes: 15,
    fires: { NetfactsMessagesMalformed: [{ service: "ip-routing" }, "ip-routing receives messages that it cannot read"] },
  },
  {
    name: "one nameserver of two is down",
    changes: { [`netfacts_rdns_nameserver_up${of("rdns-resolver", 'server="192.0.2.2"')}`]: "0x440" },
    atMinutes: 20,
    fires: { NetfactsResolverDown: [{ ...at("rdns-resolver"), server: "192.0.2.2" }, "Nameserver 192.0.2.2 does not answer"] },
  },
  {
    name: "all nameservers are down",
    changes: {
      [`netfacts_rdns_nameserver_up${of("rdns-resolver", 'server="192.0.2.1"')}`]: "0x440",
      [`netfacts_rdns_nameserver_up${of("rdns-resolver", 'server="192.0.2.2"')}`]: "0x440",
    },
    atMinutes: 20,
    fires: {
      NetfactsResolversDown: [
        { job: "rdns-resolver", instance: "rdns-resolver-0" },
        "No nameserver answers rdns-resolver at rdns-resolver-0",
      ],
    },
  },
  {
    name: "nameservers fail for many names",
    changes: { [`netfacts_rdns_lookups_total${of("rdns-resolver", 'outcome="servfail",hit="false"')}`]: "0+100x440" },
    atMinutes: 30,
    fires: { NetfactsReverseDnsFailing: [{}, "50% of the reverse DNS lookups fail"] },
  },
  {
    name: "somebody asks for one name a minute, whose own nameservers are broken",
    changes: {
      [`netfacts_rdns_lookups_total${of("rdns-resolver", 'outcome="ok",hit="false"')}`]: "0x440",
      [`netfacts_rdns_lookups_total${of("rdns-resolver", 'outcome="servfail",hit="false"')}`]: "0+1x440",
    },
    atMinutes: 60,
    fires: {},
  },
  {
    name: "a process of a service that has others is down",
    changes: {
      [`up${ofProcess("ip-routing", 1)}`]: "1x5 0x440",
      [`netfacts_process_info${of("ip-routing", "", 1)}`]: "1x5 stale",
    },
    atMinutes: 20,
    fires: { NetfactsProcessDown: [{ job: "ip-routing", instance: "ip-routing-1" }, "ip-routing-1 of ip-routing cannot be scraped"] },
  },
  {
    name: "a process of a service that has others is down for seven hours",
    changes: {
      [`up${ofProcess("ip-routing", 1)}`]: "1x5 0x440",
      [`netfacts_process_info${of("ip-routing", "", 1)}`]: "1x5 stale",
    },
    atMinutes: 430,
    fires: { NetfactsProcessDown: [{ job: "ip-routing", instance: "ip-routing-1" }, "ip-routing-1 of ip-routing cannot be scraped"] },
  },
  {
    name: "the only process of a service is gone, and nothing discovers it",
    changes: Object.fromEntries(processMetrics.map((series) => [series, "1x5 stale"])),
    atMinutes: 20,
    fires: { NetfactsServiceMissing: [{ service: "rdns-resolver" }, "No process of rdns-resolver runs"] },
  },
  {
    name: "a program that is not ours is down",
    changes: { 'up{namespace="n",job="other",instance="other-0"}': "0x440" },
    atMinutes: 20,
    fires: {},
  },
  {
    name: "a process starts again and again",
    changes: { [`process_start_time_seconds${ofProcess("ingest")}`]: "1000x5 1360x3 1600x3 1800x440" },
    atMinutes: 16,
    fires: { NetfactsRestarting: [at("ingest"), "ingest at ingest-0 restarts again and again"] },
  },
  {
    name: "a process ends within a minute of each start, and Kubernetes waits five minutes before the next one",
    changes: {
      [`up${ofProcess("ingest", 1)}`]: everySixMinutes(() => "1", "0"),
      [`netfacts_process_info${of("ingest", "", 1)}`]: everySixMinutes(() => "1", "stale"),
      [`process_start_time_seconds${ofProcess("ingest", 1)}`]: everySixMinutes((minute) => `${1_000 + 60 * minute}`, "stale"),
    },
    atMinutes: 56,
    fires: { NetfactsRestarting: [at("ingest", 1), "ingest at ingest-1 restarts again and again"] },
  },
  {
    name: "a process is started anew once",
    changes: { [`process_start_time_seconds${ofProcess("ingest")}`]: "1000x5 1360x440" },
    atMinutes: 16,
    fires: {},
  },
  {
    name: "a gateway lost NATS",
    changes: { [`netfacts_nats_connected${of(gateway)}`]: "1x5 0x440" },
    atMinutes: 20,
    fires: { NetfactsNatsDisconnected: [at(gateway), "gateway-auth-quota at gateway-auth-quota-0 is not connected to NATS"] },
  },
  {
    name: "NATS refuses a subject",
    changes: { [`netfacts_nats_rights_missing${of("ip-routing")}`]: "1x440" },
    atMinutes: 20,
    fires: { NetfactsNatsRightMissing: [at("ip-routing"), "NATS refuses a subject to ip-routing at ip-routing-0"] },
  },
  {
    name: "an event loop is late",
    changes: { [`nodejs_eventloop_lag_p99_seconds${ofProcess(gateway)}`]: "0.5x440" },
    atMinutes: 20,
    fires: { NetfactsEventLoopDelayed: [at(gateway), "The event loop of gateway-auth-quota at gateway-auth-quota-0 is late by 500ms"] },
  },
  {
    name: "a process has used nearly all of its memory",
    changes: { [`process_resident_memory_bytes${ofProcess("asn-prefix")}`]: `${0.95 * gib}x440` },
    atMinutes: 20,
    fires: { NetfactsMemoryNearLimit: [at("asn-prefix"), "asn-prefix-0 uses 95% of its memory"] },
  },
  {
    name: "a heap is nearly full",
    changes: { [`nodejs_heap_size_used_bytes${ofProcess("ingest")}`]: `${0.48 * gib}x440` },
    atMinutes: 20,
    fires: { NetfactsHeapNearLimit: [at("ingest"), "The heap of ingest-0 is 96% full"] },
  },
  {
    name: "a process has nearly as many files open as it may",
    changes: { [`process_open_fds${ofProcess(gateway)}`]: "1000x440" },
    atMinutes: 20,
    fires: { NetfactsFilesNearLimit: [at(gateway), "gateway-auth-quota at gateway-auth-quota-0 has 97.66% of its file descriptors open"] },
  },
  {
    name: "log lines are dropped",
    changes: { [`netfacts_log_lines_dropped${of("ip-routing")}`]: "0x8 120x440" },
    atMinutes: 15,
    fires: { NetfactsLogLinesDropped: [at("ip-routing"), "ip-routing at ip-routing-0 drops log lines"] },
  },
  {
    name: "a certificate expires within two weeks",
    changes: { [`netfacts_credential_expiry_timestamp_seconds${of("ingest", 'credential="NATS_CERT_FILE"')}`]: `${5 * 86_400}x440` },
    atMinutes: 20,
    fires: {
      NetfactsCredentialExpiresSoon: [
        { ...at("ingest"), credential: "NATS_CERT_FILE" },
        "NATS_CERT_FILE of ingest expires in 4d 23h 40m 0s",
      ],
    },
  },
  {
    name: "a certificate has expired",
    changes: { [`netfacts_credential_expiry_timestamp_seconds${of("ingest", 'credential="NATS_CERT_FILE"')}`]: "600x440" },
    atMinutes: 20,
    fires: {
      NetfactsCredentialExpiresSoon: [{ ...at("ingest"), credential: "NATS_CERT_FILE" }, "NATS_CERT_FILE of ingest expires in -10m 0s"],
      NetfactsCredentialExpiresNow: [{ ...at("ingest"), credential: "NATS_CERT_FILE" }, "NATS_CERT_FILE of ingest expires in -10m 0s"],
    },
  },
];
