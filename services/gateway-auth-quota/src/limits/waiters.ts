/** Requests that wait for units of one lease: first come, first served, and each for a bounded time. */

import { afterReplies } from "./at-most.ts";

/** The start of the window that the units were spent in, Unix seconds; or why none were. */
export type Spending = number | "exhausted" | "unavailable";

interface Waiter {
  readonly units: number;
  readonly end: (spending: Spending) => void;
}

export class Waiters {
  readonly #max: number;
  readonly #waiting: Waiter[] = [];
  #units = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** What all of them wait for; 0 when nobody does. */
  get units(): number {
    return this.#units;
  }

  /** @returns null where too many wait, or there is no time to. */
  join(units: number, waitMs: number): Promise<Spending> | null {
    if (this.#waiting.length >= this.#max || waitMs <= 0) return null;
    const { promise, resolve } = Promise.withResolvers<Spending>();
    const timer = afterReplies(waitMs, () => this.#leave(waiter, "unavailable"));
    const waiter: Waiter = {
      units,
      end(spending) {
        clearTimeout(timer);
        resolve(spending);
      },
    };
    this.#waiting.push(waiter);
    this.#units += units;
    return promise;
  }

  /** Gives units of a window to the first, the next, and so on, while there are enough. @returns how many were given. */
  serve(units: number, windowStart: number): number {
    let given = 0;
    for (let head = this.#waiting[0]; head !== undefined && head.units <= units - given; head = this.#waiting[0]) {
      given += head.units;
      this.#leave(head, windowStart);
    }
    return given;
  }

  turnAway(spending: Spending): void {
    for (const waiter of [...this.#waiting]) this.#leave(waiter, spending);
  }

  /** Those who wait for more than there is. */
  turnAwayMoreThan(units: number): void {
    for (const waiter of this.#waiting.filter((one) => one.units > units)) this.#leave(waiter, "exhausted");
  }

  #leave(waiter: Waiter, spending: Spending): void {
    const place = this.#waiting.indexOf(waiter);
    // Served after its time had ended.
    if (place === -1) return;
    this.#waiting.splice(place, 1);
    this.#units -= waiter.units;
    waiter.end(spending);
  }
}
