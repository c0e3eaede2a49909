/** Units that were admitted while the store was away, and are yet to be taken from it. */

/** `admitted` = `refunded` + `settled` + `written_off` + what is owed. */
export const debtEvents = ["admitted", "refunded", "settled", "written_off"] as const;
export type DebtEvent = (typeof debtEvents)[number];

/** Of one window of one policy of one bucket. What it ever let in beyond the store's knowledge is at most `max` a window. */
export class Debt {
  readonly #max: number;
  readonly #tell: (event: DebtEvent, units: number) => void;
  #owed = 0;
  /** Of this window: units that no counter will ever know of. They use up the allowance until the window ends. */
  #writtenOff = 0;
  #windowStart = Number.NaN;
  #latestStart = Number.NEGATIVE_INFINITY;

  constructor(max: number, tell: (event: DebtEvent, units: number) => void) {
    this.#max = max;
    this.#tell = tell;
  }

  get owed(): number {
    return this.#owed;
  }

  /** @returns whether it is allowed; then the units are owed. */
  incur(units: number): boolean {
    if (this.#owed + this.#writtenOff + units > this.#max) return false;
    this.#owed += units;
    this.#tell("admitted", units);
    return true;
  }

  /** Refunded units are owed no more, and use up no allowance. @returns how many of them no counter knows of: these cannot be spent again. */
  forgive(units: number): number {
    const owed = this.#lower(units, "refunded");
    const writtenOff = Math.min(units - owed, this.#writtenOff);
    this.#writtenOff -= writtenOff;
    return owed + writtenOff;
  }

  /** The store has given them out. @returns how many of them were owed. */
  pay(units: number): number {
    return this.#lower(units, "settled");
  }

  /** Given out by no counter: beyond the limit, or at the end of the gateway. */
  writeOff(units: number): void {
    this.#writtenOff += this.#lower(units, "written_off");
  }

  /**
   * What is owed of an ended window limits nothing any more. A window of another length and the same start goes on; one that began earlier,
   * which only another length can bring, may have had its allowance.
   */
  enterWindow(start: number): void {
    if (start === this.#windowStart) return;
    this.#lower(this.#owed, "written_off");
    this.#writtenOff = start > this.#latestStart ? 0 : this.#max;
    this.#windowStart = start;
    this.#latestStart = Math.max(start, this.#latestStart);
  }

  #lower(most: number, event: DebtEvent): number {
    const units = Math.min(most, this.#owed);
    if (units === 0) return 0;
    this.#owed -= units;
    this.#tell(event, units);
    return units;
  }
}
