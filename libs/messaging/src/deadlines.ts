/** Deadlines of many items by one coarse timer, which runs only while there are any. */

/** How late a deadline may be told, in milliseconds; it is never told early. */
export const deadlineGranularityMs = 10;

/** Items that end at the same tick. */
interface Bucket {
  readonly tick: number;
  /** In the order of `add`, with those that were removed since: an item is watched here while this is its bucket. */
  readonly items: Watched[];
  /** Those that are still watched here. */
  watched: number;
}

/** What can be watched, by one `Deadlines` at a time. */
export interface Watched {
  /** Kept by `Deadlines`; null: not watched. */
  bucket: Bucket | null;
}

export class Deadlines<T extends Watched> {
  readonly #onExpired: (item: T) => void;
  readonly #buckets = new Map<number, Bucket>();
  /** Where the last one was put: those that are asked together mostly end together. */
  #last: Bucket | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(onExpired: (item: T) => void) {
    this.#onExpired = onExpired;
  }

  /**
   * Watches an item that is not watched yet, for `ms` from now. Cost: O(1).
   *
   * @param now on the clock of `performance.now()`.
   */
  add(item: T, ms: number, now = performance.now()): void {
    const bucket = this.#bucketOf(Math.ceil((now + ms) / deadlineGranularityMs));
    bucket.items.push(item);
    bucket.watched += 1;
    item.bucket = bucket;
    // A late event loop runs its timers before it reads: what has arrived meanwhile is read first.
    this.#timer ??= setInterval(() => setImmediate(() => this.#expire()), deadlineGranularityMs);
  }

  /** Forgets an item; nothing happens when it is not watched. Cost: O(1). */
  remove(item: T): void {
    const { bucket } = item;
    if (bucket === null) return;
    item.bucket = null;
    bucket.watched -= 1;
    if (bucket.watched > 0) return;
    this.#drop(bucket);
    this.#stopWhenIdle();
  }

  #bucketOf(tick: number): Bucket {
    if (this.#last?.tick === tick) return this.#last;
    let bucket = this.#buckets.get(tick);
    if (bucket === undefined) {
      bucket = { tick, items: [], watched: 0 };
      this.#buckets.set(tick, bucket);
    }
    this.#last = bucket;
    return bucket;
  }

  #drop(bucket: Bucket): void {
    if (this.#buckets.get(bucket.tick) === bucket) this.#buckets.delete(bucket.tick);
    if (this.#last === bucket) this.#last = null;
  }

  #expire(): void {
    const now = performance.now() / deadlineGranularityMs;
    for (const bucket of this.#buckets.values()) {
      if (bucket.tick > now) continue;
      this.#drop(bucket);
      for (const item of bucket.items) {
        if (item.bucket !== bucket) continue;
        item.bucket = null;
        // Only what `add` was given is in a bucket.
        this.#onExpired(item as T);
      }
    }
    this.#stopWhenIdle();
  }

  #stopWhenIdle(): void {
    if (this.#buckets.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
