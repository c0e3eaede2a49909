/** Token buckets by name: each refills at a rate per second, and holds the tokens of two seconds for a burst. */

/** Tokens that a name had left at a time. */
interface Bucket {
  tokens: number;
  at: number;
}

/** Most buckets that are kept. Beyond that, the least recently used one is dropped, and is full again. */
const namesMax = 10_000;

export class TokenBuckets {
  readonly #perSecondMax: number;
  readonly #now: () => number;
  /** In the order of their last use. Full buckets are not kept. */
  readonly #buckets = new Map<string, Bucket>();

  /** @param now clock in ms; default: `performance.now()`. */
  constructor(perSecondMax: number, now: () => number = () => performance.now()) {
    this.#perSecondMax = perSecondMax;
    this.#now = now;
  }

  /** True: all buckets are full. False: some may not be. */
  get isUnused(): boolean {
    return this.#buckets.size === 0;
  }

  tokens(name: string): number {
    const burst = 2 * this.#perSecondMax;
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.tokens + ((this.#now() - bucket.at) / 1_000) * this.#perSecondMax);
  }

  /** @returns whether there was a token. */
  take(name: string): boolean {
    const tokens = this.tokens(name);
    this.#set(name, Math.max(0, tokens - 1));
    return tokens >= 1;
  }

  giveBack(name: string): void {
    if (this.#buckets.has(name)) this.#set(name, this.tokens(name) + 1);
  }

  #set(name: string, tokens: number): void {
    this.#buckets.delete(name);
    if (tokens >= 2 * this.#perSecondMax) return;
    for (const oldest of this.#buckets.keys()) {
      if (this.#buckets.size < namesMax) break;
      this.#buckets.delete(oldest);
    }
    this.#buckets.set(name, { tokens, at: this.#now() });
  }
}
