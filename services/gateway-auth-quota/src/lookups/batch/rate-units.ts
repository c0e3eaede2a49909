/**
 * The units of the rate that the costly items of a batch take beyond the unit of the batch itself. A batch pays one unit for all its items
 * that cost 1, and for each other item what its own route costs.
 */

import { errors, ProblemError } from "@netfacts/contracts";
import type { Pass, RatePaid } from "../../edge/guard.ts";
import type { AskedItem, Item } from "./item-reader.ts";
import { patiently } from "./patiently.ts";

/** What the item adds to the unit of its batch. */
export function rateUnits(item: Item): number {
  return "op" in item && item.units > 1 ? item.units : 0;
}

export class RateUnits {
  readonly #pass: Pick<Pass, "payRate">;
  /** What paid for each item that has no outcome yet. */
  readonly #paid = new Map<Item, RatePaid>();

  constructor(pass: Pick<Pass, "payRate">) {
    this.#pass = pass;
  }

  /** Takes the units of these items, all or none. @throws ProblemError why there are none. */
  async pay(items: readonly Item[]): Promise<void> {
    const units = items.reduce((sum, item) => sum + rateUnits(item), 0);
    if (units === 0) return;
    const paid = await this.take(units);
    if (paid instanceof ProblemError) throw paid;
    for (const item of items) if (rateUnits(item) > 0) this.#paid.set(item, paid);
  }

  /** Takes units, or tells why there are none. */
  take(units: number): Promise<RatePaid | ProblemError> {
    return patiently(
      () => this.#pass.payRate(units),
      (paid) => paid instanceof ProblemError && paid.code === "limits_unavailable",
    );
  }

  /** The item has its outcome: one that failed by our fault costs nothing. */
  settle(item: AskedItem, problem: ProblemError | null): void {
    const paid = this.#paid.get(item);
    if (paid === undefined) return;
    this.#paid.delete(item);
    if (problem !== null && errors[problem.code].status >= 500) paid.giveBack(rateUnits(item));
  }

  /** The client is gone: what was not asked for it costs nothing. */
  abandon(asked: ReadonlySet<Item>): void {
    for (const [item, paid] of this.#paid) if (!asked.has(item)) paid.giveBack(rateUnits(item));
    this.#paid.clear();
  }
}
