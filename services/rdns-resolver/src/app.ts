/** The service `rdns-resolver`: answers `reverse_dns` by queries to the operator's nameservers. */

import { createResponder, type Messaging, type Subscription, seldom } from "@netfacts/messaging";
import type { Clock, Logger, Metrics } from "@netfacts/runtime";
import { type RdnsConfig, resolverSettings, tlsAuthorities } from "./config.ts";
import type { DnsCounts } from "./dns/counts.ts";
import { healthLog } from "./dns/health-log.ts";
import { NameserverPool } from "./dns/pool.ts";
import type { KeepingRules } from "./domain/resolution.ts";
import { PtrLookup } from "./lookup/ptr-lookup.ts";
import { createRdnsMetrics, type RdnsMetrics } from "./metrics.ts";
import { type ReverseDnsDeps, reverseDns } from "./operations/reverse-dns.ts";
import { SharedAnswers } from "./shared/shared-answers.ts";
import type { SharedStore, SharedStoreOptions } from "./shared/shared-store.ts";

export { loadRdnsConfig, type RdnsConfig, rdnsConfig, rdnsConfigSchema } from "./config.ts";
export { openSqliteStore } from "./shared/sqlite-store.ts";

export interface RdnsResolverDeps {
  readonly messaging: Messaging;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
  readonly metrics: Metrics;
  readonly config: RdnsConfig;
  /** Opens the shared cache, which keeps answers for replicas and across restarts. There is none if absent, or if `RDNS_SHARED_CACHE_BYTES` is 0. */
  readonly openShared?: (options: SharedStoreOptions) => Promise<SharedStore>;
}

export interface RdnsResolverApp {
  /** Resolves even if no nameserver answers: the service reports this, and recovers by itself. */
  start(): Promise<void>;
  /** Accepts no more questions, finishes pending ones, and closes every socket. */
  stop(): Promise<void>;
  /** Whether it accepts questions. */
  ready(): boolean;
}

export async function buildApp(deps: RdnsResolverDeps): Promise<RdnsResolverApp> {
  const { messaging, clock, log, config } = deps;
  const metrics = createRdnsMetrics(deps.metrics);
  const pool = openPool(config, dnsCounts(metrics, log));
  const rules = keepingRules(config);
  const { store, answers } = await openSharedAnswers(deps, rules, metrics);
  const lookup = new PtrLookup({
    pool,
    clock,
    shared: answers,
    namesMax: config.RDNS_NAMES_MAX,
    forwardNamesMax: config.RDNS_FORWARD_NAMES_MAX,
    queriesMax: config.RDNS_QUERIES_MAX,
    budgetMs: config.RDNS_BUDGET_MS,
    openPrefixes: config.RDNS_OPEN_PREFIXES,
    rules,
    cacheEntriesMax: config.RDNS_CACHE_ENTRIES,
    cacheBytesMax: config.RDNS_CACHE_BYTES,
    staleMaxSeconds: config.RDNS_STALE_MAX_SECONDS,
    refreshPercent: config.RDNS_REFRESH_PERCENT,
    onRefresh: () => metrics.refreshes.inc({}),
    inFlightMax: config.RDNS_IN_FLIGHT_MAX,
  });
  metrics.measureCache(() => ({ entries: lookup.cachedEntries, bytes: lookup.cachedBytes, inFlight: lookup.inFlight }));
  const operation = reverseDns({ lookup, clock, openPrefixes: config.RDNS_OPEN_PREFIXES, observe: countLookups(metrics) });
  const handler = createResponder({
    // Names do not belong to a snapshot.
    enter: () => ({ context: null }),
    ops: new Map([["reverse_dns", operation]]),
    onFailure: ({ requestId }, cause) => log.error({ request_id: requestId, err: cause }, "reverse_dns failed"),
  });

  let subscription: Subscription | null = null;
  return {
    async start() {
      await pool.start();
      subscription = await messaging.serve("rdns-resolver", handler);
    },
    async stop() {
      const ending = subscription;
      subscription = null;
      await ending?.stop();
      await pool.stop();
      await store?.close();
    },
    ready: () => subscription !== null,
  };
}

/** Counts what happens to queries, and logs what an operator can act on. */
function dnsCounts(metrics: RdnsMetrics, log: RdnsResolverDeps["log"]): DnsCounts {
  const logHealth = healthLog(log);
  return {
    asked: (transport) => metrics.questions.inc({ transport }),
    dropped: (reason) => metrics.dropped.inc({ reason }),
    health(server, up) {
      metrics.up.set({ server }, up ? 1 : 0);
      logHealth(server, up);
    },
    latency: (server, latencyMs) => metrics.latency.set({ server }, latencyMs / 1_000),
    tlsRefused: (server, cause) => log.warn({ server, cause: cause.message }, "no TLS connection to a nameserver. Check its certificate"),
    caseLost(server) {
      log.warn({ server }, "nameserver changes the case of names and is asked in plain case. Replace it, as answers are easier to forge");
    },
  };
}

function countLookups(metrics: RdnsMetrics): ReverseDnsDeps["observe"] {
  return (outcome, found) => {
    // A stale answer after an attempt counts as the outcome of the attempt, not as a hit.
    const isKept = found?.hit === true && found.queries === 0 && found.failure === null;
    metrics.lookups.inc({ outcome, hit: String(isKept) });
    if (found?.stale) metrics.stale.inc({});
    if (found === null || isKept) return;
    metrics.durations.observe({}, found.durationMs / 1_000);
    metrics.queries.observe({}, found.queries);
  };
}

function openPool(config: RdnsConfig, counts: DnsCounts): NameserverPool {
  const { timeoutMs, attempts } = resolverSettings(config);
  return new NameserverPool({
    readServers: () => resolverSettings(config).servers,
    sockets: config.RDNS_SOCKETS,
    rounds: attempts,
    timeoutMs,
    silentProbesMax: config.RDNS_SILENT_PROBES_MAX,
    probeIntervalMs: config.RDNS_PROBE_INTERVAL_MS,
    measureIntervalMs: config.RDNS_MEASURE_INTERVAL_MS,
    randomCase: config.RDNS_RANDOM_CASE,
    cookies: config.RDNS_COOKIES,
    tlsAuthorities: tlsAuthorities(config),
    counts,
  });
}

function keepingRules(config: RdnsConfig): KeepingRules {
  return {
    ttlMinSeconds: config.RDNS_TTL_MIN_SECONDS,
    ttlMaxSeconds: config.RDNS_TTL_MAX_SECONDS,
    negativeTtlMaxSeconds: config.RDNS_NEGATIVE_TTL_MAX_SECONDS,
    failureTtlSeconds: config.RDNS_FAILURE_TTL_SECONDS,
  };
}

/** Both are null if the service has no shared cache. */
async function openSharedAnswers(
  { clock, log, config, openShared }: RdnsResolverDeps,
  rules: KeepingRules,
  metrics: RdnsMetrics,
): Promise<{ store: SharedStore | null; answers: SharedAnswers | null }> {
  if (openShared === undefined || config.RDNS_SHARED_CACHE_BYTES === 0) return { store: null, answers: null };
  const onFault = seldom((reason: string) =>
    log.warn({ reason }, "the shared cache cannot be used; DNS is asked instead. Further faults are only counted for a minute"),
  );
  const store = await openShared({
    bytesMax: config.RDNS_SHARED_CACHE_BYTES,
    ageMaxSeconds: Math.max(rules.ttlMaxSeconds, rules.negativeTtlMaxSeconds) + config.RDNS_STALE_MAX_SECONDS + 1,
    onFault,
  });
  const answers = new SharedAnswers({
    store,
    clock,
    rules,
    namesMax: config.RDNS_NAMES_MAX,
    waitMs: config.RDNS_SHARED_CACHE_WAIT_MS,
    shapedBy: [config.RESOLVERS, config.RDNS_FORWARD_NAMES_MAX, config.RDNS_QUERIES_MAX, config.RDNS_NAMES_MAX, config.RDNS_OPEN_PREFIXES],
    onRead: (outcome) => metrics.sharedReads.inc({ outcome }),
    onWrite: () => metrics.sharedWrites.inc({}),
    onFault,
  });
  return { store, answers };
}
