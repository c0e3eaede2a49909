/** The store's time, told from this process's monotonic clock: wall clocks of gateways may differ or jump, windows may not. */

interface Reading {
  /** Store time minus monotonic time. */
  readonly offset: number;
  readonly roundTripMs: number;
  readonly takenAt: number;
}

const readingLifetimeMs = 600_000;
/** Two readings further apart than their round trips explain, plus this: the store's clock was set, and the older is wrong. */
const stepMs = 1_000;
/** More than that is no error of a reading: the store's clock was set back. */
const stillMsMax = 2_000;

export class StoreTime {
  readonly #monotonic: () => number;
  /** Newest last, and each better (a smaller round trip) than all after it: the first is the best of the last ten minutes. */
  #readings: Reading[] = [];
  /** What `now` said last. */
  #told = Number.NEGATIVE_INFINITY;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /**
   * Unix ms; null before the first reading. A better reading may put the time back by a part of a round trip: then it stands still for so
   * long, as a window that began must not end again. The units that were leased in it would be forgotten.
   */
  now(): number | null {
    const best = this.#readings[0];
    if (best === undefined) return null;
    const now = this.#monotonic() + best.offset;
    if (now > this.#told || this.#told - now > stillMsMax) this.#told = now;
    return this.#told;
  }

  /** @param at  the store's stamp in a reply; @param sentAt  when we asked; the reply has just come. */
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
