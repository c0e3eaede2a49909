/**
 * The units of the rate that a batch takes beyond its own. A batch pays one unit for all its items that cost 1, for each other item what its
 * own route costs, and for refused items by the hundred.
 */

import { errors, ProblemError } from "@netfacts/contracts";
import type { Pass, RatePaid } from "../../edge/guard.ts";
import type { AskedItem, Item } from "./item-reader.ts";
import { patiently } from "./patiently.ts";

/** Refused items that cost a unit of the rate: they cost no month, and their problems are work all the same. */
export const refusedOfUnit = 100;

/** Whether the item is refused for what it is or for a limit of its key, not because we cannot answer. */
export function isCallersFault(item: Item): boolean {
  return "problem" in item && errors[item.problem.code].status < 500;
}

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

  /** Takes the units of these items and `more`, all or none. @throws ProblemError why there are none. */
  async pay(items: readonly Item[], more = 0): Promise<void> {
    const units = items.reduce((sum, item) => sum + rateUnits(item), more);
    if (units === 0) return;
    const paid = await this.#take(units);
    for (const item of items) if (rateUnits(item) > 0) this.#paid.set(item, paid);
  }

  /** Takes units that do not come back. @throws ProblemError why there are none. */
  async payRefusals(units: number): Promise<void> {
    await this.#take(units);
  }

  async #take(units: number): Promise<RatePaid> {
    const paid = await patiently(
      () => this.#pass.payRate(units),
      (answer) => answer instanceof ProblemError && answer.code === "limits_unavailable",
    );
    if (paid instanceof ProblemError) throw paid;
    return paid;
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
