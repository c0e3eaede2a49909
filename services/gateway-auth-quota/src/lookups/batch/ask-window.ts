/**
 * How many questions of one key a service is asked side by side: as many as it answers long before their budget ends. A service that has too
 * little processor time answers more slowly, and then not more questions wait for it than it can answer in time.
 */

/** A question that has its reply, or whose budget is over. */
export interface EndedQuestion {
  /** On the clock of `performance.now()`. */
  readonly askedAt: number;
  /** That of its operation, also if less of it was left. */
  readonly budgetMs: number;
  readonly hasReply: boolean;
}

/** One frame (`frameItemsMax`). The window doubles with each round of timely replies, so that a fast service soon gets all it can take. */
const firstSize = 256;
/** Small, because many keys may ask a slow service at the same time. */
const sizeMin = 2;

/**
 * Parts of the budget. A reply within the first lets the window grow, and one that takes longer than the second halves it. A question without a
 * reply empties it.
 */
const timelyPart = 1 / 8;
const latePart = 1 / 4;

export class AskWindow {
  #size = firstSize;
  /** Ends of questions that were asked before the last change to fewer say nothing about the window of now. */
  #halvedAt = 0;
  #emptiedAt = 0;

  /** Most questions in flight. */
  get size(): number {
    return this.#size;
  }

  /**
   * Call when a question ends.
   *
   * @param isSilent  whether the service has answered no question at all since this one was asked.
   * @param inFlight  questions in flight, with this one.
   */
  ended({ askedAt, budgetMs, hasReply }: EndedQuestion, now: number, isSilent: boolean, inFlight: number): void {
    const tookMs = now - askedAt;
    if (isSilent || (hasReply && tookMs <= budgetMs * timelyPart)) {
      // What is not used is not tried.
      if (inFlight > this.#size / 2) this.#size += 1;
    } else if (tookMs > budgetMs * latePart && askedAt >= (hasReply ? this.#halvedAt : this.#emptiedAt)) {
      this.#size = hasReply ? Math.max(Math.floor(this.#size / 2), sizeMin) : sizeMin;
      this.#halvedAt = now;
      if (!hasReply) this.#emptiedAt = now;
    }
  }
}
