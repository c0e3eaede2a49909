/** Asks the store at intervals whether it is available: a gateway without requests would not notice. */

import type { Gauge, Metrics } from "@netfacts/runtime";
import type { LimitRepository } from "@netfacts/storage";
import type { GatewayConfig } from "./config.ts";
import type { RequestLog } from "./edge/observe.ts";
import { defaultLimiterSettings } from "./limits/index.ts";

export interface StoreWatchDeps {
  readonly limits: Pick<LimitRepository, "time">;
  /** Time after which a store that fails counts as lost, in ms. */
  readonly lostMs: number;
  /** Interval of calls, in ms. */
  readonly askMs: number;
  /** Called with the last error when the store is lost, and with null when it is available again. */
  readonly changed: (reason: string | null) => void;
  /** Called after each call. */
  readonly asked: (answers: boolean) => void;
}

/**
 * Time without the store after which a gateway is not ready, in ms. The units that it holds last for up to 15 s. If the operator allows debt,
 * it answers requests for as long as cached keys are valid.
 */
function storeLostMs(config: Pick<GatewayConfig, "LIMITS_DEBT_MAX" | "KEY_CACHE_AWAY_MS">): number {
  const bridgedMs = defaultLimiterSettings.bridgeSeconds * 1_000;
  return config.LIMITS_DEBT_MAX > 0 ? Math.max(bridgedMs, config.KEY_CACHE_AWAY_MS) : bridgedMs;
}

export class StoreWatch {
  readonly #deps: StoreWatchDeps;
  readonly #timer: NodeJS.Timeout;
  /** Time of the first of consecutive failures; null: the store is available. */
  #refusesSince: number | null = null;
  #isLost = false;
  #isAsking = false;

  constructor(deps: StoreWatchDeps) {
    this.#deps = deps;
    this.#timer = setInterval(() => void this.#ask(), deps.askMs).unref();
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Asks for the store's time, which is a write like those of limits: a server that answers only reads is lost too. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { limits, lostMs, changed, asked } = this.#deps;
    try {
      await limits.time();
      asked(true);
      this.#refusesSince = null;
      if (this.#isLost) changed(null);
      this.#isLost = false;
    } catch (error) {
      asked(false);
      const now = performance.now();
      this.#refusesSince ??= now;
      if (!this.#isLost && now - this.#refusesSince >= lostMs) {
        this.#isLost = true;
        changed((error as Error).message);
      }
    } finally {
      this.#isAsking = false;
    }
  }
}

/** Registers the metric that the watch sets. It has no series before it is set. */
export function storeAvailability(metrics: Metrics): Gauge {
  return metrics.gauge({ name: "netfacts_store_available", help: "1 while the database answers this gateway" });
}

/** The watch of a gateway: its readiness, with the reason, its log and `netfacts_store_available`. */
export function watchStore(
  limits: StoreWatchDeps["limits"],
  config: Pick<GatewayConfig, "LIMITS_DEBT_MAX" | "KEY_CACHE_AWAY_MS">,
  { available, log, explain }: { readonly available: Gauge; readonly log: RequestLog; explain(reason: string | null): void },
): StoreWatch {
  return new StoreWatch({
    limits,
    lostMs: storeLostMs(config),
    askMs: 1_000,
    changed(reason) {
      explain(reason);
      if (reason === null) log.info({}, "store is available again");
      else log.warn({ reason }, "not ready: every request to the store has failed for longer than leased units last");
    },
    asked: (answers) => available.set({}, answers ? 1 : 0),
  });
}
