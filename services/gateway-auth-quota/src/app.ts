/** Wires the gateway: keys, limits, routes and problems in front of the services. */

import { setTimeout as sleep } from "node:timers/promises";
import { publicDocument } from "@netfacts/contracts/openapi";
import type { Messaging } from "@netfacts/messaging";
import { listenAt, type Metrics } from "@netfacts/runtime";
import type { Store } from "@netfacts/storage";
import type { FastifyInstance } from "fastify";
import { flagHandler } from "./about/flags-route.ts";
import { meHandler } from "./about/me-route.ts";
import { statusHandler } from "./about/status-route.ts";
import type { GatewayConfig } from "./config.ts";
import { consoleRoutes, type PageGate } from "./console/console-routes.ts";
import { docsRoutes, referenceAtRoot } from "./docs/docs-routes.ts";
import { installBodyTime } from "./edge/body-time.ts";
import { CallerTurns } from "./edge/caller-turns.ts";
import { Compressor } from "./edge/compression.ts";
import { Guard } from "./edge/guard.ts";
import { createListener, type ListenerOptions } from "./edge/listener.ts";
import { LoadShedder } from "./edge/load-shedding.ts";
import type { RequestLog } from "./edge/observe.ts";
import type { ProblemOptions } from "./edge/problems.ts";
import { installRoutes, onlyForPeople, type Route } from "./edge/routes.ts";
import { securityHeaders } from "./edge/security-headers.ts";
import { listenPlaces } from "./listen-places.ts";
import { batchUrl, installBatchRoute } from "./lookups/batch/batch-route.ts";
import { Batches } from "./lookups/batch/batches.ts";
import { SnapshotChanges } from "./lookups/conditional.ts";
import { Dispatcher } from "./lookups/dispatcher.ts";
import { type LookupDeps, lookupHandler } from "./lookups/lookup-route.ts";
import { lookups } from "./lookups/lookups.ts";
import { PathsMeant } from "./lookups/path-meant.ts";
import { createGatewayMetrics } from "./metrics.ts";
import { adminHandlers } from "./operator/admin-handlers.ts";
import { ChangeTeller } from "./operator/change-teller.ts";
import { ensureFirstAdminKey } from "./operator/first-admin-key.ts";
import { createOperatorListener } from "./operator/operator-listener.ts";
import { batchSettings, defaultLimits, lookupBudgets, openKeyring, openLimiter, openUsageMeter } from "./parts.ts";
import { UsageRetention } from "./usage/usage-retention.ts";
import { WhoisServer } from "./whois/whois-server.ts";

export { type GatewayConfig, gatewayConfig, gatewayConfigSchema, loadGatewayConfig, loadStoreConfig } from "./config.ts";
export { listenPlaces } from "./listen-places.ts";
export { storeAvailability, watchStore } from "./store-watch.ts";

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
  /** The operator listener; null if it is turned off. `listeningOrigin` returns its URL once it listens. */
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
  const keyring = openKeyring(deps, metrics);
  const usage = openUsageMeter(deps, metrics);
  const retention = new UsageRetention({ store, log, keptDays: config.USAGE_KEPT_DAYS });
  const limiter = openLimiter(deps, usage, metrics);
  const guard = new Guard(keyring, limiter, metrics);
  const dispatcher = new Dispatcher(messaging, lookupBudgets(config), config.HISTORY_BUDGET_MS);

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
  installBodyTime(http, config.REQUEST_TIMEOUT_MS, problems);
  const apiRoutes: Route[] = [
    ...lookupRoutes({ guard, dispatcher, compressor, shedder, turns, changes: new SnapshotChanges(clock) }),
    { url: "/api/v1/me", handler: meHandler(guard, limiter, clock) },
    { url: "/api/v1/status", handler: statusHandler(dispatcher, clock, config.STATUS_CACHE_MS) },
    { url: "/flags/:country.svg", handler: flagHandler() },
    ...docsRoutes("Netfacts API", "/docs/api/routes", publicDocument),
  ];
  const paths = new PathsMeant([...apiRoutes.map(({ url }) => url), batchUrl]);
  const meantBy = (url: string) => paths.of(url);
  const pages = pageRoutes(config, log, (page) => onlyForPeople(page, guard, meantBy));
  const routes = [...apiRoutes, ...(pages.length > 0 ? pages : [referenceAtRoot])];
  for (const { url, documentedPath = url } of routes) metrics.expectRoute(documentedPath);
  metrics.expectRoute(batchUrl);
  installRoutes(http, routes, guard, meantBy);
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
    settings: batchSettings(config),
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
      const places = listenPlaces(config);
      if (operator !== null) {
        const operatorUrl = await listenAt(places.operator, (at) => operator.listen(at));
        log.info({ operator_url: operatorUrl }, "operator listener started");
      }
      if (whois !== null) log.info({ whois_url: await whois.listen() }, "whois listener started");
      shedder.start();
      retention.start();
      return listenAt(places.http, (at) => http.listen(at));
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

function lookupRoutes(deps: LookupDeps): Route[] {
  return lookups.flatMap((lookup) => {
    const handler = lookupHandler(lookup, deps);
    const documentedPath = `/api/v1${lookup.urls[0]}`;
    return lookup.urls.map((url) => ({ url: `/api/v1${url}`, documentedPath, handler }));
  });
}

/** The pages of the console; none if it is turned off or not built. */
function pageRoutes({ CONSOLE }: GatewayConfig, log: GatewayDeps["log"], gate: PageGate): Route[] {
  if (!CONSOLE) return [];
  const pages = consoleRoutes(gate);
  if (pages.length === 0)
    log.warn({}, "the console is not built, so `/` redirects to `/docs`; run scripts/run.sh scripts/build-console.ts");
  return pages;
}
