/** Plans: named limits that keys refer to. */

import type { KeyLimits } from "./key-repository.ts";

/** Limits for the keys of a plan that have none of their own. */
export interface PlanRecord extends KeyLimits {
  /** Lower-case letters, digits, `-` and `_`. */
  readonly name: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  /** 1 at first; increases by one with each change. */
  readonly version: number;
}

export interface PlanRepository {
  /** Inserts, or replaces the plan with this name. A written plan survives a power failure. */
  put(plan: Omit<PlanRecord, "version">): Promise<PlanRecord>;
  find(name: string): Promise<PlanRecord | null>;
  /** All plans, by name. */
  list(): Promise<PlanRecord[]>;
  /** @returns whether there was a plan. */
  delete(name: string): Promise<boolean>;
}
