/** A caller that asks more often than its key may, and counts what it was given. */

/** Longer than any deadline of a gateway. A connection to a node that was stopped answers nothing. */
const answerMsMax = 15_000;

export interface LimitedCallerOptions {
  readonly url: string;
  readonly key: string;
  readonly perSecond: number;
  /** Answers that the key may have in a window. */
  readonly limit: number;
  readonly windowMs: number;
}

export class LimitedCaller {
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  readonly #answers: { readonly sentAt: number; readonly answeredAt: number }[] = [];
  readonly #pending = new Set<Promise<void>>();

  constructor({ url, key, perSecond, limit, windowMs }: LimitedCallerOptions) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#timer = setInterval(() => {
      const sentAt = performance.now();
      const asked: Promise<void> = fetch(url, { headers: { authorization: `Bearer ${key}` }, signal: AbortSignal.timeout(answerMsMax) })
        .then(async (response) => {
          await response.arrayBuffer();
          if (response.ok) this.#answers.push({ sentAt, answeredAt: performance.now() });
        })
        .catch(() => undefined)
        .finally(() => this.#pending.delete(asked));
      this.#pending.add(asked);
    }, 1_000 / perSecond);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
  }

  get answered(): number {
    return this.#answers.length;
  }

  /** Answers that the key may have had so far: windows have fixed ends, so that the first and the last one may be cut. */
  get allowed(): number {
    return this.#limit * (Math.ceil((performance.now() - this.#began) / this.#windowMs) + 1);
  }

  /**
   * The greatest number of requests that were sent and answered within the length of a window, wherever it begins: at most twice the limit. One that
   * waited for its answer may have been admitted in an earlier window than those that were answered with it.
   */
  get mostAtOnce(): number {
    const counts = this.#answers.map(
      ({ sentAt: from }) => this.#answers.filter(({ sentAt, answeredAt }) => sentAt >= from && answeredAt < from + this.#windowMs).length,
    );
    return Math.max(0, ...counts);
  }
}
