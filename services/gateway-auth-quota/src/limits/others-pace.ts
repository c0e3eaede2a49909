/** How fast other gateways spend units of a window: what they have used a moment ago is likely to be more now. */

/** A shorter time says nothing of a pace. */
const readingMsMin = 20;
/** A pace is believed so long after the last reading. */
const aheadMsMax = 2_000;

export class OthersPace {
  readonly #monotonic: () => number;
  #perMs: number | null = null;
  #readAt: number | null = null;
  /** Units of others since `#readAt`. */
  #units = 0;
  #seenAt = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** A window begins. */
  reset(): void {
    this.#perMs = null;
    this.#readAt = null;
    this.#units = 0;
  }

  /** The counter was read. @param units  what others have spent more than when it was read before. */
  observe(units: number): void {
    const now = this.#monotonic();
    this.#seenAt = now;
    if (this.#readAt === null) {
      // When they began is not known.
      this.#readAt = now;
      return;
    }
    this.#units += units;
    const elapsed = now - this.#readAt;
    if (elapsed < readingMsMin) return;
    const perMs = Math.max(0, this.#units) / elapsed;
    // Half of it is the last reading: a pace that changes is followed within a few.
    this.#perMs = ((this.#perMs ?? perMs) + perMs) / 2;
    this.#readAt = now;
    this.#units = 0;
  }

  /** Units that others are likely to have spent since they told. */
  ahead(): number {
    return Math.round((this.#perMs ?? 0) * Math.min(aheadMsMax, this.#monotonic() - this.#seenAt));
  }
}
