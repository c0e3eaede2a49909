/** Deadlines of many items with one coarse timer, which runs only while there are any. */

/** Longest delay of an expiry, in milliseconds; no item expires early. */
export const deadlineGranularityMs = 10;

/** Items that expire at the same tick. */
interface Bucket {
  readonly tick: number;
  /** In the order of `add`, including removed items: an item is watched here only while its `bucket` is this one. */
  readonly items: Watched[];
  /** Number of items that are still watched here. */
  watched: number;
}

/** An item that can be watched, by one `Deadlines` at a time. */
export interface Watched {
  /** Set by `Deadlines`; null: not watched. */
  bucket: Bucket | null;
}

export class Deadlines<T extends Watched> {
  readonly #onExpired: (item: T) => void;
  readonly #buckets = new Map<number, Bucket>();
  /** The bucket of the last `add`: items that are asked together mostly expire together. */
  #last: Bucket | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(onExpired: (item: T) => void) {
    this.#onExpired = onExpired;
  }

  /**
   * Watches an item, which must not be watched yet, for `ms` from now. Cost: O(1).
   *
   * @param now on the clock of `performance.now()`.
   */
  add(item: T, ms: number, now = performance.now()): void {
    const bucket = this.#bucketOf(Math.ceil((now + ms) / deadlineGranularityMs));
    bucket.items.push(item);
    bucket.watched += 1;
    item.bucket = bucket;
    this.#timer ??= setInterval(() => this.#look(), deadlineGranularityMs);
  }

  /** Stops watching an item; does nothing when it is not watched. Cost: O(1). */
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

  /**
   * A late event loop runs its timers before it reads: replies that have arrived meanwhile must be read first. What was not over before that reading
   * has another one, as the reading itself may have taken long.
   */
  #look(): void {
    const tick = performance.now() / deadlineGranularityMs;
    setImmediate(() => this.#expire(tick));
  }

  #expire(tick: number): void {
    for (const bucket of this.#buckets.values()) {
      if (bucket.tick > tick) continue;
      this.#drop(bucket);
      for (const item of bucket.items) {
        if (item.bucket !== bucket) continue;
        item.bucket = null;
        // Buckets hold only items from `add`, which are of type T.
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
