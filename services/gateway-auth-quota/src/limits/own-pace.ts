/** Pace at which this gateway spends units of one limit: it decides how many units to hold for a time without the store. */

/** Shortest time over which the pace is measured. */
const readingMsMin = 1_000;

export class OwnPace {
  readonly #monotonic: () => number;
  #perMs: number | null = null;
  #since: number;
  /** Units spent since `#since`. */
  #units = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#since = monotonic();
  }

  spent(units: number): void {
    this.#units += units;
  }

  /** Call after a long pause: the pace before it does not predict the next one. */
  reset(): void {
    this.#perMs = null;
    this.#since = this.#monotonic();
    this.#units = 0;
  }

  /** Units per second at the last reading; null before the first. */
  get recent(): number | null {
    return this.#perMs === null ? null : this.#perMs * 1_000;
  }

  /** Recent units per second; takes a reading if one is due. 0 in the first second. */
  perSecond(): number {
    const now = this.#monotonic();
    const elapsed = now - this.#since;
    if (elapsed >= readingMsMin) {
      const perMs = this.#units / elapsed;
      // The last reading has half the weight, so that a few readings follow a change.
      this.#perMs = ((this.#perMs ?? perMs) + perMs) / 2;
      this.#since = now;
      this.#units = 0;
    }
    return (this.#perMs ?? 0) * 1_000;
  }
}
