/**
 * The units of the rate that a batch takes beyond its own. A batch pays one unit for all its items that cost 1, for each other item what its
 * own route costs, and for refused items by the hundred, long ones counting several times.
 */

import { errors, ProblemError } from "@netfacts/contracts";
import type { Pass, RatePaid } from "../../edge/guard.ts";
import type { AskedItem, Item } from "./item-reader.ts";
import { patiently } from "./patiently.ts";

/** Refused items that cost a unit of the rate: they cost no month, and their problems are work all the same. */
export const refusedOfUnit = 100;

/** Characters of a refused item that count as one of the hundred: what a longer one costs to read rises with its length. */
const refusedLength = 128;

/** How many of the hundred a refused item counts as; at most all. 0: it is not refused, or only because the server cannot answer. */
export function refusals(item: Item): number {
  if ("op" in item || errors[item.problem.code].status >= 500) return 0;
  return Math.min(refusedOfUnit, 1 + Math.floor((item.length ?? 0) / refusedLength));
}

/** Units for a document that was refused after so many characters of its items were read. */
export function unitsOfUnread(length: number): number {
  return Math.floor(length / (refusedLength * refusedOfUnit));
}

/** Units that the item costs beyond the unit of its batch. */
export function rateUnits(item: Item): number {
  return "op" in item && item.units > 1 ? item.units : 0;
}

/** The sum of `rateUnits`. */
export function unitsOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + rateUnits(item), 0);
}

export class RateUnits {
  readonly #pass: Pick<Pass, "payRate">;
  /** The payment of each item that has no outcome yet. */
  readonly #paid = new Map<Item, RatePaid>();

  constructor(pass: Pick<Pass, "payRate">) {
    this.#pass = pass;
  }

  /** Takes the units of these items, all or none. @param also  as for `Pass.payRate`. @throws ProblemError why there are none. */
  async pay(items: readonly Item[], also = 0): Promise<void> {
    const units = unitsOf(items);
    if (units === 0) return;
    const paid = await this.#take(units, also);
    for (const item of items) if (rateUnits(item) > 0) this.#paid.set(item, paid);
  }

  /** Takes units that do not come back. @param also  as for `Pass.payRate`. @throws ProblemError why there are none. */
  async payRefusals(units: number, also = 0): Promise<void> {
    if (units > 0) await this.#take(units, also);
  }

  /** Takes units that do not come back; takes none if there are too few, since the caller is refused for another reason anyway. */
  async payUnread(units: number): Promise<void> {
    try {
      await this.payRefusals(units);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
    }
  }

  async #take(units: number, also: number): Promise<RatePaid> {
    const paid = await patiently(
      () => this.#pass.payRate(units, also),
      (answer) => answer instanceof ProblemError && answer.code === "limits_unavailable",
    );
    if (paid instanceof ProblemError) throw paid;
    return paid;
  }

  /** Call when the item has its outcome. One that failed by our fault costs nothing. */
  settle(item: AskedItem, problem: ProblemError | null): void {
    const paid = this.#paid.get(item);
    if (paid === undefined) return;
    this.#paid.delete(item);
    if (problem !== null && errors[problem.code].status >= 500) paid.giveBack(rateUnits(item));
  }

  /** Returns the units of items that were not asked, because the client is gone or a limit refuses the document. */
  abandon(asked: ReadonlySet<Item> = new Set()): void {
    for (const [item, paid] of this.#paid) if (!asked.has(item)) paid.giveBack(rateUnits(item));
    this.#paid.clear();
  }
}
