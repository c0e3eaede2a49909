/** Units that were admitted while the store was unavailable, and must still be taken from it. */

/** `admitted` = `refunded` + `settled` + `written_off` + the units owed. */
export const debtEvents = ["admitted", "refunded", "settled", "written_off"] as const;
export type DebtEvent = (typeof debtEvents)[number];

/** Most windows that are remembered: more than an hour of minutes, all of them with debt that was written off. */
const usedMax = 100;

/** The debt of one policy of one bucket, in one window at a time. It admits at most `max` units per window that the store does not know. */
export class Debt {
  readonly #max: number;
  readonly #tell: (event: DebtEvent, units: number) => void;
  #owed = 0;
  /** Units of this window that no counter will ever include. They use up the allowance until the window ends. */
  #writtenOff = 0;
  #windowStart = Number.NaN;
  #latestStart = Number.NEGATIVE_INFINITY;
  /** By start: written-off units of windows that ended. If the store's clock is set back, they are entered again. */
  readonly #used = new Map<number, number>();

  constructor(max: number, tell: (event: DebtEvent, units: number) => void) {
    this.#max = max;
    this.#tell = tell;
  }

  get owed(): number {
    return this.#owed;
  }

  /** @returns true: the units are now owed. False: the allowance is too small. */
  incur(units: number): boolean {
    if (this.#owed + this.#writtenOff + units > this.#max) return false;
    this.#owed += units;
    this.#tell("admitted", units);
    return true;
  }

  /** Refunded units are no longer owed, and free their allowance. @returns how many of them are in no counter: these cannot be spent again. */
  forgive(units: number): number {
    const owed = this.#lower(units, "refunded");
    const writtenOff = Math.min(units - owed, this.#writtenOff);
    this.#writtenOff -= writtenOff;
    return owed + writtenOff;
  }

  /** Call with units taken from the store. @returns how many of them were owed. */
  pay(units: number): number {
    return this.#lower(units, "settled");
  }

  /** Call with units that no counter will include: they are beyond the limit, or the gateway stops. */
  writeOff(units: number): void {
    this.#writtenOff += this.#lower(units, "written_off");
  }

  /**
   * Writes off the debt of the ended window. A window of another length with the same start continues the current one. A window with an
   * earlier start gets no allowance, because it may have used it.
   *
   * @param isSetBack  the store's clock was set back: the window has the length of the previous one, and the allowance that it has not used.
   */
  enterWindow(start: number, isSetBack = false): void {
    if (start === this.#windowStart) return;
    this.writeOff(this.#owed);
    if (this.#writtenOff > 0) this.#remember(this.#windowStart, this.#writtenOff);
    const isLater = isSetBack || start > this.#latestStart;
    this.#writtenOff = isLater ? (this.#used.get(start) ?? 0) : this.#max;
    this.#windowStart = start;
    this.#latestStart = isSetBack ? start : Math.max(start, this.#latestStart);
  }

  #remember(start: number, units: number): void {
    this.#used.set(start, units);
    const [oldest] = this.#used.size > usedMax ? this.#used.keys() : [];
    if (oldest !== undefined) this.#used.delete(oldest);
  }

  #lower(most: number, event: DebtEvent): number {
    const units = Math.min(most, this.#owed);
    if (units === 0) return 0;
    this.#owed -= units;
    this.#tell(event, units);
    return units;
  }
}
