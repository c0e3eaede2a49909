/** Opens the parts of the gateway that count and report what happens in them, with what the settings say. */

import type { KeyLimits } from "@netfacts/keys";
import { seldom } from "@netfacts/messaging";
import type { Store } from "@netfacts/storage";
import type { GatewayDeps } from "./app.ts";
import type { GatewayConfig } from "./config.ts";
import { createKeyring, type Keyring, type KeyringSettings } from "./keys/index.ts";
import { createLimiter, type Limiter } from "./limits/index.ts";
import { watchedLimits } from "./limits/watched-limits.ts";
import type { BatchSettings } from "./lookups/batch/batches.ts";
import type { GatewayMetrics } from "./metrics.ts";
import { UsageMeter } from "./usage/usage-meter.ts";

export function openKeyring({ config, messaging, store, log, clock }: GatewayDeps, metrics: GatewayMetrics): Keyring {
  return createKeyring({
    store: countingLoads(store, metrics),
    messaging,
    clock,
    settings: keyringSettings(config),
    onManyChanges: seldom(() =>
      log.warn(
        {},
        "many changes of keys are announced, and are applied together every 400 ms. If the audit log has fewer, check who publishes keys.changed at NATS",
      ),
    ),
    onUnknownPepper: (pepper_id) => log.warn({ pepper_id }, "keys with this pepper are rejected, because it is not in KEY_PEPPERS"),
  });
}

export function openUsageMeter({ config, store, log }: GatewayDeps, metrics: GatewayMetrics): UsageMeter {
  const usage = new UsageMeter({ usage: countingWrites(store.usage, metrics), log, flushMs: config.USAGE_FLUSH_MS });
  metrics.watchUsage(usage);
  return usage;
}

export function openLimiter({ config, store, log }: GatewayDeps, usage: UsageMeter, metrics: GatewayMetrics): Limiter {
  return createLimiter({
    store: { limits: watchedLimits(store.limits, log, config.LIMITS_DEBT_MAX) },
    // A file is always available, unlike a server, so no units are held for a time without the store.
    settings: { debtMax: config.LIMITS_DEBT_MAX, ...(store.changesSeen === "any" && { bridgeSeconds: 0 }) },
    onSettled: (admission, counted, uncounted) => usage.count(admission, counted, uncounted),
    onFault: seldom((err) => log.error({ err }, "a limit could not be checked because of an error in Netfacts; the key is refused")),
    onDebt: (event, policy, units) => metrics.debt.inc({ event, policy }, units),
  });
}

/** How long each service has for its part of an answer, in milliseconds. */
export function lookupBudgets(config: GatewayConfig) {
  return {
    "ip-routing": config.LOOKUP_BUDGET_MS,
    "asn-prefix": config.LOOKUP_BUDGET_MS,
    "rdns-resolver": config.REVERSE_DNS_BUDGET_MS,
  };
}

export function batchSettings(config: GatewayConfig): BatchSettings {
  return {
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    idleMs: config.BATCH_IDLE_MS,
    itemsMin: config.BATCH_ITEMS_MIN,
    streamMsMax: config.BATCH_MS_MAX,
    documentMs: config.BATCH_DOCUMENT_MS,
    batchesMax: config.BATCHES_MAX,
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
export function defaultLimits(config: GatewayConfig): KeyLimits {
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
