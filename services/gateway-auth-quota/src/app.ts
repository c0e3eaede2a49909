/** Wires the gateway: keys, limits, routes and problems in front of the services. */

import { setTimeout as sleep } from "node:timers/promises";
import { publicDocument } from "@netfacts/contracts/openapi";
import type { KeyLimits } from "@netfacts/keys";
import { type Messaging, seldom } from "@netfacts/messaging";
import { listenAt, type Metrics } from "@netfacts/runtime";
import type { Store } from "@netfacts/storage";
import type { FastifyInstance } from "fastify";
import { flagHandler } from "./about/flags-route.ts";
import { meHandler } from "./about/me-route.ts";
import { statusHandler } from "./about/status-route.ts";
import type { GatewayConfig } from "./config.ts";
import { consoleRoutes } from "./console/console-routes.ts";
import { docsRoutes, referenceAtRoot } from "./docs/docs-routes.ts";
import { installBodyTime } from "./edge/body-time.ts";
import { CallerTurns } from "./edge/caller-turns.ts";
import { Compressor } from "./edge/compression.ts";
import { Guard } from "./edge/guard.ts";
import { createListener, type ListenerOptions } from "./edge/listener.ts";
import { LoadShedder } from "./edge/load-shedding.ts";
import type { RequestLog } from "./edge/observe.ts";
import type { ProblemOptions } from "./edge/problems.ts";
import { installRoutes, type Route } from "./edge/routes.ts";
import { securityHeaders } from "./edge/security-headers.ts";
import { createKeyring, type KeyringSettings } from "./keys/index.ts";
import { createLimiter } from "./limits/index.ts";
import { watchedLimits } from "./limits/watched-limits.ts";
import { batchUrl, installBatchRoute } from "./lookups/batch/batch-route.ts";
import { Batches } from "./lookups/batch/batches.ts";
import { SnapshotChanges } from "./lookups/conditional.ts";
import { Dispatcher } from "./lookups/dispatcher.ts";
import { lookupHandler } from "./lookups/lookup-route.ts";
import { lookups } from "./lookups/lookups.ts";
import { PathsMeant } from "./lookups/path-meant.ts";
import { createGatewayMetrics, type GatewayMetrics } from "./metrics.ts";
import { adminHandlers } from "./operator/admin-handlers.ts";
import { ChangeTeller } from "./operator/change-teller.ts";
import { ensureFirstAdminKey } from "./operator/first-admin-key.ts";
import { createOperatorListener } from "./operator/operator-listener.ts";
import { UsageMeter } from "./usage/usage-meter.ts";
import { UsageRetention } from "./usage/usage-retention.ts";
import { WhoisServer } from "./whois/whois-server.ts";

export { type GatewayConfig, gatewayConfig, gatewayConfigSchema, loadGatewayConfig, loadStoreConfig } from "./config.ts";

export interface GatewayDeps {
  readonly config: GatewayConfig;
  readonly messaging: Messaging;
  readonly store: Store;
  readonly log: RequestLog;
  readonly metrics: Metrics;
  readonly clock: { now(): number };
}

export interface Gateway {
  /** For tests: `inject`. */
  readonly http: FastifyInstance;
  /** The operators' listener; null if it is turned off. `listeningOrigin` returns its URL once it listens. */
  readonly operator: FastifyInstance | null;
  /** Starts all configured listeners. Resolves with the public URL. */
  listen(): Promise<string>;
  /**
   * If it listens, answers for another `DRAIN_SECONDS`, each answer as the last of its connection. Then refuses new requests, finishes those
   * in flight within 10 s, returns unspent units, and writes usage counts. Messaging and store stay open.
   */
  stop(): Promise<void>;
}

/** Longest wait of a stop for requests in flight. */
const stopMsMax = 10_000;

export async function buildApp(deps: GatewayDeps): Promise<Gateway> {
  const { config, messaging, store, log, clock } = deps;
  let stopping = false;
  const metrics = createGatewayMetrics(deps.metrics);
  const keyring = createKeyring({
    store: countingLoads(store, metrics),
    messaging,
    clock,
    settings: keyringSettings(config),
    onManyChanges: seldom(() =>
      log.warn(
        {},
        "too many changes of keys are announced; they are applied together every 400 ms. Check who publishes keys.changed at NATS",
      ),
    ),
    onUnknownPepper: (pepper_id) => log.warn({ pepper_id }, "keys with this pepper are rejected, because it is not in KEY_PEPPERS"),
  });
  const usage = new UsageMeter({ usage: countingWrites(store.usage, metrics), log, flushMs: config.USAGE_FLUSH_MS });
  metrics.watchUsage(usage);
  const retention = new UsageRetention({ store, log, keptDays: config.USAGE_KEPT_DAYS });
  const limiter = createLimiter({
    store: { limits: watchedLimits(store.limits, log, config.LIMITS_DEBT_MAX) },
    // A file is always available, unlike a server, so no units are held for a time without the store.
    settings: { debtMax: config.LIMITS_DEBT_MAX, ...(store.changesSeen === "any" && { bridgeSeconds: 0 }) },
    onSettled: (admission, counted, uncounted) => usage.count(admission, counted, uncounted),
    onFault: seldom((err) => log.error({ err }, "a limit could not be checked because of an error in Netfacts; the key is refused")),
    onDebt: (event, policy, units) => metrics.debt.inc({ event, policy }, units),
  });
  const guard = new Guard(keyring, limiter, metrics);
  const budgets = {
    "ip-routing": config.LOOKUP_BUDGET_MS,
    "asn-prefix": config.LOOKUP_BUDGET_MS,
    "rdns-resolver": config.REVERSE_DNS_BUDGET_MS,
  };
  const dispatcher = new Dispatcher(messaging, budgets, config.HISTORY_BUDGET_MS);

  const problems: ProblemOptions = {
    errorDocsBase: config.ERROR_DOCS_BASE,
    fixedHeaders: securityHeaders(config.HSTS_SECONDS),
    log,
    clock,
  };
  const turns = new CallerTurns();
  const bucketOf = (authorization: string) => keyring.bucketOf(authorization);
  const listenerOptions: ListenerOptions = { config, clock, log, metrics, problems, isStopping: () => stopping, turns, bucketOf };
  const shedder = new LoadShedder({ inFlightMax: config.SHED_IN_FLIGHT_MAX, loopDelayMsMax: config.SHED_LOOP_DELAY_MS });
  const keyless = { isStrained: () => shedder.isStrained, isKnownKey: (authorization: string) => bucketOf(authorization) !== null };
  const http = createListener({ ...listenerOptions, keyless }, config.CORS_ORIGINS, "connections");
  const compressor = new Compressor(config.COMPRESS_FROM_BYTES);
  const lookupDeps = { guard, dispatcher, compressor, shedder, turns, changes: new SnapshotChanges(clock) };
  installBodyTime(http, config.REQUEST_TIMEOUT_MS, problems);
  const routes: Route[] = [
    ...lookups.flatMap((lookup) => {
      const handler = lookupHandler(lookup, lookupDeps);
      return lookup.urls.map((url) => ({ url: `/api/v1${url}`, handler }));
    }),
    { url: "/api/v1/me", handler: meHandler(guard, limiter, clock) },
    { url: "/api/v1/status", handler: statusHandler(dispatcher, clock, config.STATUS_CACHE_MS) },
    { url: "/flags/:country.svg", handler: flagHandler() },
    ...docsRoutes("Netfacts", "/docs/api/routes", publicDocument),
  ];
  const pages = config.CONSOLE ? consoleRoutes() : [];
  if (config.CONSOLE && pages.length === 0)
    log.warn({}, "the console is not built, so `/` redirects to `/docs`; run scripts/run.sh scripts/build-console.ts");
  routes.push(...(pages.length > 0 ? pages : [referenceAtRoot]));
  for (const { url } of routes) metrics.expectRoute(url);
  metrics.expectRoute(batchUrl);
  const paths = new PathsMeant([...routes.filter((route) => !pages.includes(route)).map(({ url }) => url), batchUrl]);
  installRoutes(http, routes, guard, (url) => paths.of(url));
  const batches = new Batches({
    guard,
    limiter,
    dispatcher,
    compressor,
    turns,
    metrics,
    log,
    clock,
    errorDocsBase: config.ERROR_DOCS_BASE,
    settings: {
      requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
      idleMs: config.BATCH_IDLE_MS,
      itemsMin: config.BATCH_ITEMS_MIN,
      streamMsMax: config.BATCH_MS_MAX,
      documentMs: config.BATCH_DOCUMENT_MS,
      batchesMax: config.BATCHES_MAX,
    },
  });
  installBatchRoute(http, batches);
  await http.ready();
  const teller = new ChangeTeller(messaging);
  const handlers = adminHandlers({
    store,
    clock,
    pepper: config.PEPPERS.current,
    defaultLimits: defaultLimits(config),
    changed: (change) => teller.tell(change),
  });
  const operator = config.OPERATOR_PORT < 0 ? null : createOperatorListener({ ...listenerOptions, guard, handlers });
  await operator?.ready();
  const whois = config.WHOIS_PORT < 0 ? null : new WhoisServer({ config, dispatcher, shedder, metrics, log, clock });
  await limiter.learnTime();
  await ensureFirstAdminKey(store, config.ADMIN_KEY, log, config.PEPPERS.current);

  return {
    http,
    operator,
    async listen() {
      if (operator !== null) {
        const place = {
          host: config.OPERATOR_HOST,
          port: config.OPERATOR_PORT,
          hostSetting: "OPERATOR_HOST",
          portSetting: "OPERATOR_PORT",
        };
        const operatorUrl = await listenAt(place, (at) => operator.listen(at));
        log.info({ operator_url: operatorUrl }, "operator listener started");
      }
      if (whois !== null) log.info({ whois_url: await whois.listen() }, "whois listener started");
      shedder.start();
      retention.start();
      const place = { host: config.HOST, port: config.PORT, hostSetting: "HOST", portSetting: "PORT" };
      return listenAt(place, (at) => http.listen(at));
    },
    async stop() {
      const listeners = operator === null ? [http] : [http, operator];
      if (http.server.listening && config.DRAIN_SECONDS > 0) {
        log.info({ seconds: config.DRAIN_SECONDS }, "draining: requests are still answered, with Connection: close");
        for (const { connections } of listeners) connections.drain();
        await sleep(config.DRAIN_SECONDS * 1_000);
      }
      stopping = true;
      shedder.stop();
      for (const { connections } of listeners) connections.stop(stopMsMax);
      // Batches must end before the limiter stops: units that they return later would stay leased.
      await Promise.all([batches.stop(), http.close(), operator?.close(), whois?.stop(stopMsMax)]);
      keyring.stop();
      teller.stop();
      await Promise.all([limiter.stop(), usage.stop(), retention.stop()]);
    },
  };
}

function keyringSettings(config: GatewayConfig): Partial<KeyringSettings> {
  return {
    cacheLifetimeMs: config.KEY_CACHE_LIFETIME_MS,
    cacheBlindMs: config.KEY_CACHE_BLIND_MS,
    cacheAwayMs: config.KEY_CACHE_AWAY_MS,
    failedKeysMax: config.FAILED_KEYS_MAX,
    failedReadsPerSecond: config.FAILED_KEY_READS,
    triesPerSecond: config.KEY_TRIES_MAX,
    failedKeysWindowMs: config.FAILED_KEYS_WINDOW_MS,
    peppers: config.PEPPERS.secrets,
    pepper: config.PEPPERS.current,
    defaultLimits: defaultLimits(config),
  };
}

/** Limits of the plan `default` until it is written. */
function defaultLimits(config: GatewayConfig): KeyLimits {
  return {
    rate: { limit: config.DEFAULT_RATE_LIMIT, windowSeconds: config.DEFAULT_RATE_WINDOW_SECONDS },
    month: { limit: config.DEFAULT_MONTH_LIMIT },
    concurrency: config.DEFAULT_CONCURRENCY_LIMIT === 0 ? null : { limit: config.DEFAULT_CONCURRENCY_LIMIT },
  };
}

/** The store for the keyring. It counts each read of a key, which is a miss of the key cache. */
function countingLoads(store: Store, { keyLoads }: GatewayMetrics): Pick<Store, "keys" | "plans" | "onChange"> {
  const { keys } = store;
  const find = async (id: string) => {
    try {
      const key = await keys.find(id);
      keyLoads.inc({ outcome: key === null ? "unknown" : "found" });
      return key;
    } catch (error) {
      keyLoads.inc({ outcome: "failed" });
      throw error;
    }
  };
  return { keys: { ...keys, find }, plans: store.plans, onChange: (listener) => store.onChange(listener) };
}

/** The store for the meter. It counts each write. */
function countingWrites(usage: Store["usage"], { usageWrites }: GatewayMetrics): Pick<Store["usage"], "add"> {
  return {
    async add(batch) {
      try {
        await usage.add(batch);
        usageWrites.inc({ outcome: "written" });
      } catch (error) {
        usageWrites.inc({ outcome: "failed" });
        throw error;
      }
    },
  };
}
