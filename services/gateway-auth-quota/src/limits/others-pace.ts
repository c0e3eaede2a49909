/** Pace at which other gateways spend units of a window, to estimate their use since their last report. */

/** Shortest time over which the pace is measured. */
const readingMsMin = 20;
/** Longest time after the last reading for which the pace is extrapolated. */
const aheadMsMax = 2_000;

export class OthersPace {
  readonly #monotonic: () => number;
  #perMs: number | null = null;
  #readAt: number | null = null;
  /** Units that others have spent since `#readAt`. */
  #units = 0;
  #seenAt = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Call when a window begins. */
  reset(): void {
    this.#perMs = null;
    this.#readAt = null;
    this.#units = 0;
  }

  /** Call when the counter was read. @param units  units that others have spent since the previous reading. */
  observe(units: number): void {
    const now = this.#monotonic();
    this.#seenAt = now;
    if (this.#readAt === null) {
      // The time at which these units began is unknown.
      this.#readAt = now;
      return;
    }
    this.#units += units;
    const elapsed = now - this.#readAt;
    if (elapsed < readingMsMin) return;
    const perMs = Math.max(0, this.#units) / elapsed;
    // The last reading has half the weight, so that a few readings follow a change.
    this.#perMs = ((this.#perMs ?? perMs) + perMs) / 2;
    this.#readAt = now;
    this.#units = 0;
  }

  /** Units that others have probably spent since the last reading. */
  ahead(): number {
    return Math.round((this.#perMs ?? 0) * Math.min(aheadMsMax, this.#monotonic() - this.#seenAt));
  }
}
