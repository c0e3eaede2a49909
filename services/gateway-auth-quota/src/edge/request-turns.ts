/**
 * Requests that come in at once share the event loop: a client can send hundreds in one piece, on hundreds of connections. Beginning them
 * takes a turn of so many milliseconds; the rest begin in later turns, connection by connection, so that nobody waits for all of another.
 */

/** How long requests may be begun in one turn. Ordinary load has fewer than that takes, which then share their way to the services. */
const turnMs = 5;

export class RequestTurns {
  /** By connection, in the order of their turns; those of one connection in their order. */
  readonly #waiting = new Map<object, (() => void)[]>();
  /** When requests were first begun in this turn, on the clock of `performance.now()`; null: not yet. */
  #since: number | null = null;

  /** Calls `start` once: now, or in a later turn. */
  begin(connection: object, start: () => void): void {
    const line = this.#waiting.get(connection);
    if (line !== undefined) line.push(start);
    else if (this.#isTimeLeft()) start();
    else this.#waiting.set(connection, [start]);
  }

  #isTimeLeft(): boolean {
    const now = performance.now();
    if (this.#since === null) {
      this.#since = now;
      setImmediate(() => this.#nextTurn());
    }
    return now - this.#since < turnMs;
  }

  #nextTurn(): void {
    this.#since = null;
    for (const [connection, line] of this.#waiting) {
      if (!this.#isTimeLeft()) return;
      this.#waiting.delete(connection);
      const [start, ...rest] = line;
      if (rest.length > 0) this.#waiting.set(connection, rest);
      start?.();
    }
  }
}
