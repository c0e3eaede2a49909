/** Deadlines of many items by one coarse timer, which runs only while there are any. */

/** How late a deadline may be told, in milliseconds; it is never told early. */
export const deadlineGranularityMs = 10;

export class Deadlines<T> {
  readonly #onExpired: (item: T) => void;
  /** Tick → the items that end at it. */
  readonly #buckets = new Map<number, Set<T>>();
  readonly #tickOf = new Map<T, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(onExpired: (item: T) => void) {
    this.#onExpired = onExpired;
  }

  /** Watches an item that is not watched yet, for `ms` from now. Cost: O(1). */
  add(item: T, ms: number): void {
    const tick = Math.ceil((performance.now() + ms) / deadlineGranularityMs);
    const bucket = this.#buckets.get(tick);
    if (bucket === undefined) this.#buckets.set(tick, new Set([item]));
    else bucket.add(item);
    this.#tickOf.set(item, tick);
    this.#timer ??= setInterval(() => this.#expire(), deadlineGranularityMs);
  }

  /** Forgets an item; nothing happens when it is not watched. Cost: O(1). */
  remove(item: T): void {
    const tick = this.#tickOf.get(item);
    if (tick === undefined) return;
    this.#tickOf.delete(item);
    const bucket = this.#buckets.get(tick);
    bucket?.delete(item);
    if (bucket?.size === 0) this.#buckets.delete(tick);
    this.#stopWhenIdle();
  }

  #expire(): void {
    const now = performance.now() / deadlineGranularityMs;
    for (const [tick, items] of this.#buckets) {
      if (tick > now) continue;
      this.#buckets.delete(tick);
      for (const item of items) {
        this.#tickOf.delete(item);
        this.#onExpired(item);
      }
    }
    this.#stopWhenIdle();
  }

  #stopWhenIdle(): void {
    if (this.#tickOf.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
