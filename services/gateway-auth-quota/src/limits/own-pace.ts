/** How fast this gateway spends units of one limit: what it needs while it cannot lease more. */

/** A shorter time says nothing of a pace. */
const readingMsMin = 1_000;

export class OwnPace {
  readonly #monotonic: () => number;
  #perMs: number | null = null;
  #since: number;
  /** Spent since then. */
  #units = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
    this.#since = monotonic();
  }

  spent(units: number): void {
    this.#units += units;
  }

  /** Nothing was spent for a while: what was before says nothing of what comes. */
  reset(): void {
    this.#perMs = null;
    this.#since = this.#monotonic();
    this.#units = 0;
  }

  /** As of the last reading; null before one. */
  get recent(): number | null {
    return this.#perMs === null ? null : this.#perMs * 1_000;
  }

  /** Units a second, of late; 0 before it was watched for a second. */
  perSecond(): number {
    const now = this.#monotonic();
    const elapsed = now - this.#since;
    if (elapsed >= readingMsMin) {
      const perMs = this.#units / elapsed;
      // Half of it is the last reading: a pace that changes is followed within a few.
      this.#perMs = ((this.#perMs ?? perMs) + perMs) / 2;
      this.#since = now;
      this.#units = 0;
    }
    return (this.#perMs ?? 0) * 1_000;
  }
}
