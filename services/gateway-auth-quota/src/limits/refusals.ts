/** What the store had too little of a moment ago, for which it is not asked again yet. Times are those of a monotonic clock, in ms. */

export class Refusals {
  #exhaustedUntil = 0;
  /** Units that the store had left when these were too few for a request, and the time until which it is not asked for more. */
  #short = { left: 0, until: 0 };

  /** Until this time it has nothing left. */
  get exhaustedUntil(): number {
    return this.#exhaustedUntil;
  }

  /** Whether these units are too many, with the unspent ones. */
  isRefused(units: number, unspent: number, now: number): boolean {
    return now < this.#exhaustedUntil || (now < this.#short.until && units > unspent + this.#short.left);
  }

  exhausted(until: number): void {
    this.#exhaustedUntil = until;
  }

  short(left: number, until: number): void {
    this.#short = { left, until };
  }

  /** Call when the store may have more than it had. */
  forget(): void {
    this.#exhaustedUntil = 0;
    this.#short.until = 0;
  }
}
