/** Requests that wait for units of one lease: first come, first served, each for a limited time. */

import { afterReplies } from "./at-most.ts";

/** The start of the window in which the units were spent, Unix seconds; or the reason why none were. */
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

  /** Units that all of them wait for; 0: no request waits. */
  get units(): number {
    return this.#units;
  }

  /** @returns null if too many requests wait, or there is no time left to wait. */
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

  /** Gives units of a window to waiting requests in their order, while there are enough. @returns the number of units given. */
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

  /** Ends the wait of requests that need more units than this, as exhausted. */
  turnAwayMoreThan(units: number): void {
    for (const waiter of this.#waiting.filter((one) => one.units > units)) this.#leave(waiter, "exhausted");
  }

  #leave(waiter: Waiter, spending: Spending): void {
    const place = this.#waiting.indexOf(waiter);
    // It was already served, or its time had ended.
    if (place === -1) return;
    this.#waiting.splice(place, 1);
    this.#units -= waiter.units;
    waiter.end(spending);
  }
}
