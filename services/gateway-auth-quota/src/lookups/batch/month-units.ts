/** The units of the month that one batch costs: reserved before items are asked, and returned for those that were not answered. */

import { limitProblem, type Pass, type Reserved } from "../../edge/guard.ts";
import { patiently } from "./patiently.ts";

export class MonthUnits {
  readonly #pass: Pick<Pass, "reserve">;
  /** Oldest first; only those whose units may still come back. */
  readonly #reserved: Reserved[] = [];
  #spare = 0;
  /** Spent for items whose result is not written yet. */
  #underWay = 0;

  constructor(pass: Pick<Pass, "reserve">) {
    this.#pass = pass;
  }

  /**
   * Reserves `units`, or all that the month has left if these are at least `atLeast`.
   *
   * @throws ProblemError `quota_exceeded`, `limits_unavailable`.
   */
  async reserve(units: number, atLeast: number): Promise<void> {
    if (units === 0) return;
    const reserved = await patiently(
      () => this.#pass.reserve(units, atLeast),
      (refused) => !refused.admitted && refused.code === "limits_unavailable",
    );
    if (!reserved.admitted) throw limitProblem(reserved);
    this.#reserved.push(reserved);
    this.#spare += reserved.units;
    this.#closeSpent();
  }

  /** Spends one for an item that is about to be asked; false: none is left. */
  spend(): boolean {
    if (this.#spare === 0) return false;
    this.#spare -= 1;
    this.#underWay += 1;
    return true;
  }

  /** Call when the result of an item that one was spent for is written. @param counted  it was answered; otherwise the unit is free again. */
  settle(counted: boolean): void {
    if (counted) {
      this.keep(1);
      return;
    }
    this.#underWay -= 1;
    this.#spare += 1;
  }

  /** Marks spent units that are never returned: their items were answered, or asked for a client that went away. */
  keep(units: number): void {
    this.#underWay -= units;
    let left = units;
    for (let i = 0; left > 0 && i < this.#reserved.length; i++) left -= this.#reserved[i]?.keep(left) ?? 0;
  }

  /** Call when the limits may have changed: returns unspent units, so that later items are paid for by new reservations. */
  limitsChanged(): void {
    for (const reserved of this.#reserved.toReversed()) this.#spare -= reserved.giveBack(this.#spare);
    this.#closeSpent();
  }

  /** Ends the batch: returns units that are unspent, or were spent for items that were not asked. */
  close(): void {
    let back = this.#spare + this.#underWay;
    this.#spare = 0;
    this.#underWay = 0;
    for (const reserved of this.#reserved.splice(0).reverse()) {
      const units = Math.min(back, reserved.units);
      back -= units;
      reserved.settle(reserved.units - units);
    }
  }

  /** Settles old reservations of which no unit can be returned any more. */
  #closeSpent(): void {
    let open = this.#reserved.reduce((sum, { units }) => sum + units, 0);
    for (let oldest = this.#reserved[0]; oldest !== undefined; oldest = this.#reserved[0]) {
      open -= oldest.units;
      if (open < this.#spare + this.#underWay) return;
      this.#reserved.shift();
      oldest.settle(oldest.units);
    }
  }
}
