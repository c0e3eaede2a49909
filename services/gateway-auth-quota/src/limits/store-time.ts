/** The store's time, computed from this process's monotonic clock: wall clocks of gateways may differ or jump, but windows may not. */

interface Reading {
  /** Store time minus monotonic time. */
  readonly offset: number;
  readonly roundTripMs: number;
  readonly takenAt: number;
}

const readingLifetimeMs = 600_000;
/** Two readings that differ by more than their round trips explain, plus this: the store's clock was set, and the older reading is wrong. */
const stepMs = 1_000;
/** A larger step back is not an error of a reading: the store's clock was set back. */
const stillMsMax = 2_000;

export class StoreTime {
  readonly #monotonic: () => number;
  /** In order of time; each has a smaller round trip than all after it. So the first is the best of the last ten minutes. */
  #readings: Reading[] = [];
  /** The last result of `now`. */
  #last = Number.NEGATIVE_INFINITY;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /**
   * Unix ms; null before the first reading. If a better reading would put the time back by part of a round trip, the time stands still
   * instead: a return to the previous window would lose the units that were leased in the new one.
   */
  now(): number | null {
    const best = this.#readings[0];
    if (best === undefined) return null;
    const now = this.#monotonic() + best.offset;
    if (now > this.#last || this.#last - now > stillMsMax) this.#last = now;
    return this.#last;
  }

  /** Call when a reply has just come. @param at  the store's time in the reply. @param sentAt  monotonic time at which we asked. */
  observe(at: number, sentAt: number): void {
    const takenAt = this.#monotonic();
    const roundTripMs = takenAt - sentAt;
    const reading: Reading = { offset: at - (sentAt + takenAt) / 2, roundTripMs, takenAt };
    const agrees = (other: Reading): boolean =>
      Math.abs(other.offset - reading.offset) <= (other.roundTripMs + roundTripMs) / 2 + stepMs &&
      takenAt - other.takenAt <= readingLifetimeMs;
    this.#readings = this.#readings.filter((other) => agrees(other) && other.roundTripMs < roundTripMs);
    this.#readings.push(reading);
  }
}
