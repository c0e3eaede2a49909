/** Plans: named limits that keys refer to. */

import type { KeyLimits } from "./key-repository.ts";

/** What keys of a plan get where they have no limits of their own. */
export interface PlanRecord extends KeyLimits {
  /** Lower-case letters, digits, `-` and `_`. */
  readonly name: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  /** 1 at first, one more at each change. */
  readonly version: number;
}

export interface PlanRepository {
  /** Inserts, or replaces what there was of this name. A written plan survives a power cut. */
  put(plan: Omit<PlanRecord, "version">): Promise<PlanRecord>;
  find(name: string): Promise<PlanRecord | null>;
  /** Every plan, by name. */
  list(): Promise<PlanRecord[]>;
  /** @returns whether there was one. */
  delete(name: string): Promise<boolean>;
}
