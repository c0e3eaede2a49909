/** The gateway, wired: keys, limits, routes and problems in front of the services. */

import type { Messaging } from "@netfacts/messaging";
import type { Metrics } from "@netfacts/runtime";
import type { Store } from "@netfacts/storage";
import type { FastifyInstance } from "fastify";
import type { GatewayConfig } from "./config.ts";
import { Dispatcher } from "./http/dispatcher.ts";
import { flagHandler } from "./http/flags-route.ts";
import { Guard } from "./http/guard.ts";
import { lookupHandler } from "./http/lookup-route.ts";
import { lookups } from "./http/lookups.ts";
import { meHandler } from "./http/me-route.ts";
import { createServer } from "./http/server.ts";
import { statusHandler } from "./http/status-route.ts";
import { createKeyring, type KeyringSettings } from "./keys/index.ts";
import { createLimiter } from "./limits/index.ts";
import { watchedLimits } from "./limits/watched-limits.ts";
import { createGatewayMetrics, type GatewayMetrics } from "./metrics.ts";
import { ensureFirstAdminKey } from "./operator/first-admin-key.ts";
import { createOperatorListener } from "./operator/operator-listener.ts";
import { installObserver, type RequestLog } from "./plugins/observe.ts";
import { installProblems, type ProblemOptions } from "./plugins/problems.ts";
import { installRequestContext } from "./plugins/request-context.ts";
import { installRoutes, type Route } from "./plugins/routes.ts";

export { type GatewayConfig, gatewayConfig, gatewayConfigSchema, loadGatewayConfig, storeConfigSchema } from "./config.ts";

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
  /** The operators' listener; null where none is wanted. Its URL, once it listens: `listeningOrigin`. */
  readonly operator: FastifyInstance | null;
  /** Starts to listen, for operators too where that is wanted; resolves with the public URL. */
  listen(): Promise<string>;
  /** Refuses new requests, finishes those in flight, gives unspent units back. Messaging and store stay open. */
  stop(): Promise<void>;
}

export async function buildApp(deps: GatewayDeps): Promise<Gateway> {
  const { config, messaging, store, log, clock } = deps;
  let stopping = false;
  const metrics = createGatewayMetrics(deps.metrics);
  const keyring = createKeyring({ store: countingLoads(store, metrics), messaging, clock, settings: keyringSettings(config) });
  const limiter = createLimiter({ store: { limits: watchedLimits(store.limits, log) } });
  const guard = new Guard(keyring, limiter, metrics);
  const dispatcher = new Dispatcher(messaging, {
    lookupBudgetMs: config.LOOKUP_BUDGET_MS,
    reverseDnsBudgetMs: config.REVERSE_DNS_BUDGET_MS,
  });

  const problems: ProblemOptions = { errorDocsBase: config.ERROR_DOCS_BASE, log, clock };
  const http = createServer({ config, clock, log, metrics, problems });
  installProblems(http, problems);
  installObserver(http, log, metrics);
  installRequestContext(http, { urlBytesMax: config.URL_BYTES_MAX, isStopping: () => stopping });
  const routes: Route[] = [
    ...lookups.flatMap((lookup) => {
      const handler = lookupHandler(lookup, guard, dispatcher);
      return lookup.urls.map((url) => ({ url: `/api/v1${url}`, handler }));
    }),
    { url: "/api/v1/me", handler: meHandler(guard, limiter, clock) },
    { url: "/api/v1/status", handler: statusHandler(dispatcher, clock) },
    { url: "/flags/:country.svg", handler: flagHandler() },
  ];
  installRoutes(http, routes, guard);
  await http.ready();
  const operator =
    config.OPERATOR_PORT < 0 ? null : createOperatorListener({ config, clock, log, metrics, problems, guard, isStopping: () => stopping });
  await operator?.ready();
  await ensureFirstAdminKey(store, config.ADMIN_KEY, log);

  return {
    http,
    operator,
    async listen() {
      const operatorUrl = await operator?.listen({ host: config.OPERATOR_HOST, port: config.OPERATOR_PORT });
      if (operatorUrl !== undefined) log.info({ operator_url: operatorUrl }, "operators are served");
      return http.listen({ host: config.HOST, port: config.PORT });
    },
    async stop() {
      stopping = true;
      await Promise.all([http.close(), operator?.close()]);
      keyring.stop();
      await limiter.stop();
    },
  };
}

function keyringSettings(config: GatewayConfig): Partial<KeyringSettings> {
  return {
    cacheLifetimeMs: config.KEY_CACHE_LIFETIME_MS,
    cacheAwayMs: config.KEY_CACHE_AWAY_MS,
    failedKeysMax: config.FAILED_KEYS_MAX,
    failedKeysWindowMs: config.FAILED_KEYS_WINDOW_MS,
    defaultLimits: {
      rate: { limit: config.DEFAULT_RATE_LIMIT, windowSeconds: config.DEFAULT_RATE_WINDOW_SECONDS },
      month: { limit: config.DEFAULT_MONTH_LIMIT },
    },
  };
}

/** The store as the keyring sees it, with each read counted: the key cache's misses. */
function countingLoads(store: Store, { keyLoads }: GatewayMetrics): Pick<Store, "keys" | "onChange"> {
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
  return {
    keys: {
      find,
      insert: (key) => keys.insert(key),
      list: () => keys.list(),
      update: (id, version, change) => keys.update(id, version, change),
    },
    onChange: (listener) => store.onChange(listener),
  };
}
