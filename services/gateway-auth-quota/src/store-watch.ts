/** Whether the store answers, asked at intervals: requests alone do not say so at a gateway that gets none. */

import type { LimitRepository } from "@netfacts/storage";
import type { GatewayConfig } from "./config.ts";
import { defaultLimiterSettings } from "./limits/index.ts";

export interface StoreWatchDeps {
  readonly limits: Pick<LimitRepository, "time">;
  /** The store counts as lost once it has refused for so long, in ms. */
  readonly lostMs: number;
  /** Interval of questions, in ms. */
  readonly askMs: number;
  /** Called with the latest refusal when the store is lost, and with null when it answers again. */
  readonly changed: (reason: string | null) => void;
  /** Called after each question. */
  readonly asked: (answers: boolean) => void;
}

/**
 * Units that gateways hold bridge up to 15 s without the store. An operator who allows debt wants requests answered without it for as long as
 * cached keys are valid.
 */
export function storeLostMs(config: Pick<GatewayConfig, "LIMITS_DEBT_MAX" | "KEY_CACHE_AWAY_MS">): number {
  const bridgedMs = defaultLimiterSettings.bridgeSeconds * 1_000;
  return config.LIMITS_DEBT_MAX > 0 ? Math.max(bridgedMs, config.KEY_CACHE_AWAY_MS) : bridgedMs;
}

export class StoreWatch {
  readonly #deps: StoreWatchDeps;
  readonly #timer: NodeJS.Timeout;
  /** Of the first refusal in a row; null: the store answers. */
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

  /** The store's time is a write as those of limits are: a server that only answers reads is lost too. */
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
