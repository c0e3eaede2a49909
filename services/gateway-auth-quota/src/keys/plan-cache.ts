/** The limits of plans, read once for the many keys of a plan that are read at the same time. */

import { defaultPlan, type KeyLimits } from "@netfacts/keys";
import type { Store } from "@netfacts/storage";

/** Limits with when their reading began, in monotonic ms, and a text that differs where they do. */
export interface PlanLimits {
  readonly limits: KeyLimits;
  readonly readAt: number;
  readonly revision: string;
}

/** Far less than the life of a key in the cache, which is what decides how old limits may be. */
const lifetimeMs = 1_000;
/** Names that keys refer to; plans are few. */
const namesMax = 1_000;

export class PlanCache {
  readonly #plans: Store["plans"];
  readonly #fallback: KeyLimits;
  readonly #monotonic: () => number;
  readonly #readings = new Map<string, { readonly found: Promise<PlanLimits | null>; readonly readAt: number }>();

  /** @param fallback  the limits of the plan `default` while nobody has written one. */
  constructor(plans: Store["plans"], fallback: KeyLimits, monotonic: () => number) {
    this.#plans = plans;
    this.#fallback = fallback;
    this.#monotonic = monotonic;
  }

  /** The limits of a plan; of `default` where there is none of this name. Rejects with `StoreError`. */
  async limitsOf(name: string): Promise<PlanLimits> {
    const readAt = this.#monotonic();
    const found = (await this.#find(name)) ?? (name === defaultPlan ? null : await this.#find(defaultPlan));
    return found ?? { limits: this.#fallback, readAt, revision: "settings" };
  }

  /** Any plan may have changed. */
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
