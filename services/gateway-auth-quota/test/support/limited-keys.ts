/** Keys as the limiter knows them, a clock that tests move, and limiters on one store in memory. */

import {
  type Admission,
  createLimiter,
  type Decision,
  type LimitedKey,
  type Limiter,
  type LimiterOptions,
} from "../../src/limits/index.ts";
import { FakeLimits } from "./limit-stores.ts";

export interface Bounds {
  readonly rate?: number;
  readonly windowSeconds?: number;
  readonly month?: number;
  /** Null: no bound. */
  readonly concurrency?: number | null;
}

export function limitedKey({ rate = 600, windowSeconds = 60, month = 1_000, concurrency = null }: Bounds, bucket = "7Q9M3W8K"): LimitedKey {
  return {
    id: bucket,
    bucket,
    limits: {
      rate: { limit: rate, windowSeconds },
      month: { limit: month },
      concurrency: concurrency === null ? null : { limit: concurrency },
    },
  };
}

/** Time stands still unless a test moves it with `pass`. */
export class LimiterBench {
  readonly store = new FakeLimits();
  readonly #limiters: Limiter[] = [];
  #monotonicMs = 5_000;

  limiter(options: Omit<Partial<LimiterOptions>, "store" | "clock"> = {}): Limiter {
    const made = createLimiter({ store: { limits: this.store }, clock: { monotonic: () => this.#monotonicMs }, ...options });
    this.#limiters.push(made);
    return made;
  }

  pass(ms: number): void {
    this.#monotonicMs += ms;
    this.store.now += ms;
  }

  async stop(): Promise<void> {
    this.store.release();
    await Promise.all(this.#limiters.splice(0).map((limiter) => limiter.stop()));
  }
}

/** @throws an `Error` with the code of a refusal. */
export function admission(decision: Decision): Admission {
  if (!decision.admitted) throw new Error(decision.code);
  return decision;
}
