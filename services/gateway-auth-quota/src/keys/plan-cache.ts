/** Limits of plans. A plan is read once for many keys that are read at the same time. */

import { defaultPlan, type KeyLimits } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";

/** Limits, the time at which their reading began (monotonic ms), and a revision that changes with them. */
export interface PlanLimits {
  readonly limits: KeyLimits;
  readonly readAt: number;
  readonly revision: string;
}

/** Far less than the lifetime of a cached key, which decides how old limits may be. */
const lifetimeMs = 1_000;
/** Most plan names that are kept; there are few plans. */
const namesMax = 1_000;

export class PlanCache {
  readonly #plans: Store["plans"];
  readonly #fallback: KeyLimits;
  readonly #monotonic: () => number;
  readonly #readings = new Map<string, { readonly found: Promise<PlanLimits | null>; readonly readAt: number }>();

  /** @param fallback  limits of the plan `default` until it is written. */
  constructor(plans: Store["plans"], fallback: KeyLimits, monotonic: () => number) {
    this.#plans = plans;
    this.#fallback = fallback;
    this.#monotonic = monotonic;
  }

  /** Limits of the plan, or of `default` if there is no such plan. Rejects with `StoreError`. */
  async limitsOf(name: string): Promise<PlanLimits> {
    const readAt = this.#monotonic();
    const found = (await this.#find(name)) ?? (name === defaultPlan ? null : await this.#find(defaultPlan));
    return found ?? { limits: this.#fallback, readAt, revision: "settings" };
  }

  /** Call when any plan may have changed. */
  clear(): void {
    this.#readings.clear();
  }

  #find(name: string): Promise<PlanLimits | null> {
    const readAt = this.#monotonic();
    const known = this.#readings.get(name);
    if (known !== undefined && readAt < known.readAt + lifetimeMs) return known.found;
    if (this.#readings.size >= namesMax) this.#readings.clear();
    const reading = { found: this.#read(name, readAt), readAt };
    this.#readings.set(name, reading);
    reading.found.catch(() => {
      if (this.#readings.get(name) === reading) this.#readings.delete(name);
    });
    return reading.found;
  }

  async #read(name: string, readAt: number): Promise<PlanLimits | null> {
    const plan = await this.#plans.find(name);
    if (plan === null) return null;
    const { rate, month, concurrency, version, updatedAt } = plan;
    return { limits: { rate, month, concurrency }, readAt, revision: `${name}:${version}:${updatedAt}` };
  }
}
