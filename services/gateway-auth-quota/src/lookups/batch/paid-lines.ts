/** The items of a stream of lines, each paid for as it comes. */

import { ProblemError } from "@netfacts/contracts";
import type { BatchRun } from "./batch-run.ts";
import type { AskedItem, Item } from "./item-reader.ts";
import type { MonthUnits } from "./month-units.ts";
import { type RateUnits, rateUnits, refusals, refusedOfUnit } from "./rate-units.ts";

/** Lines that units of the month are reserved for at a time. */
export const reserveLines = 256;

export class PaidLines {
  readonly #units: MonthUnits;
  readonly #rate: RateUnits;
  readonly #run: BatchRun;
  /** The quota is used up: the problem of all further items. */
  #exhausted: ProblemError | null = null;
  /** Refused items so far, of the hundred that cost the next unit. */
  #refused = 0;

  constructor(units: MonthUnits, rate: RateUnits, run: BatchRun) {
    this.#units = units;
    this.#rate = rate;
    this.#run = run;
  }

  /**
   * Pays for the item and asks it, or writes its problem. Resolves when the next item may come; null: at once. Nearly every line is put at
   * once: a promise for each would cost as much as all the rest.
   */
  put(item: Item): Promise<void> | null {
    const full = this.#run.room();
    if (full !== null || !("op" in item) || rateUnits(item) > 0 || !this.#units.spend()) return this.#putLate(item, full);
    this.#run.put(item);
    return null;
  }

  async #putLate(asked: Item, full: Promise<void> | null): Promise<void> {
    if (full !== null) await full;
    const item = "op" in asked ? await this.#rated(await this.#spent(asked)) : asked;
    await this.#payRefusals(item);
    this.#run.put(item);
  }

  /** Spends a unit of the month; reserves more if there is none. */
  async #spent(item: AskedItem): Promise<Item> {
    if (this.#units.spend()) return item;
    try {
      if (this.#exhausted === null) await this.#units.reserve(reserveLines, 1);
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      if (error.code !== "quota_exceeded") return { problem: error, echo: item.echo };
      this.#exhausted = error;
    }
    // Units of failed items may have come back meanwhile.
    return this.#units.spend() ? item : { problem: this.#exhausted ?? new ProblemError("quota_exceeded"), echo: item.echo };
  }

  /** Pays for an item that costs more than the batch's own unit of the rate. */
  async #rated(item: Item): Promise<Item> {
    if (rateUnits(item) === 0) return item;
    try {
      await this.#rate.pay([item]);
      return item;
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      this.#units.settle(false);
      return { problem: error, echo: item.echo };
    }
  }

  async #payRefusals(item: Item): Promise<void> {
    this.#refused += refusals(item);
    const due = Math.floor(this.#refused / refusedOfUnit);
    if (due === 0) return;
    this.#refused %= refusedOfUnit;
    await this.#rate.payRefusals(due);
  }
}
