/**
 * Callers share the event loop. The work on requests, answers and batches has a few milliseconds in each round of the loop. The rest waits
 * for later rounds, in which callers take turns, and so do the connections and batches of one caller. So no caller waits for all the work
 * of another.
 */

/** Time of all callers in a round, from its first work on. The work of ordinary load fits in one round, and then shares messages to services. */
const roundMs = 5;
/** Time of one caller in a round if others had work in the last `latelyMs`: others wait for less, at the cost of more rounds. */
const sharedCallerMs = 1;
const latelyMs = 100;

/** Waiting work, by connection or batch. */
type Lines = Map<object, (() => void)[]>;

export class CallerTurns {
  readonly #now: () => number;
  /** Waiting work by caller. Maps and lines are in the order of their turns. */
  readonly #waiting = new Map<string, Lines>();
  /** Time at which the work of this round began; null: it has not begun. */
  #since: number | null = null;
  /** Times at which the work of each caller began in this round. */
  readonly #begun = new Map<string, number>();
  /** Last time at which more than one caller had work in a round. */
  #sharedAt = Number.NEGATIVE_INFINITY;

  /** @param now clock in ms; default: `performance.now()`. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /**
   * Calls `work` once: now, or in a later round.
   *
   * @param line connection or batch, whose work keeps its order.
   */
  take(caller: string, line: object, work: () => void): void {
    if (this.#mayRun(caller, line)) work();
    else this.#add(caller, line, work);
  }

  /** Call before work, and between its steps. @returns null: continue; else continue when the promise resolves. */
  next(caller: string, line: object): Promise<void> | null {
    if (this.#mayRun(caller, line)) return null;
    return new Promise((resolve) => this.#add(caller, line, resolve));
  }

  /** Whether this round has time left for work of the caller. */
  hasTime(caller: string): boolean {
    const now = this.#now();
    if (this.#since === null) {
      this.#since = now;
      setImmediate(this.#beginRound);
    } else if (now - this.#since >= roundMs) return false;
    const begun = this.#begun.get(caller);
    if (begun !== undefined) return now - begun < sharedCallerMs || now - this.#sharedAt >= latelyMs;
    this.#begun.set(caller, now);
    if (this.#begun.size > 1) this.#sharedAt = now;
    return true;
  }

  #mayRun(caller: string, line: object): boolean {
    return (this.#waiting.size === 0 || this.#waiting.get(caller)?.has(line) !== true) && this.hasTime(caller);
  }

  #add(caller: string, line: object, work: () => void): void {
    let lines = this.#waiting.get(caller);
    if (lines === undefined) {
      lines = new Map();
      this.#waiting.set(caller, lines);
    }
    const works = lines.get(line);
    if (works === undefined) lines.set(line, [work]);
    else works.push(work);
  }

  readonly #beginRound = (): void => {
    this.#since = null;
    this.#begun.clear();
    this.#goOn();
  };

  /** Runs works in turn while there is time. Each starts after the microtasks and ticks of the previous one: they finish an answer that it wrote. */
  readonly #goOn = (): void => {
    const caller = this.#nextCaller();
    if (caller === null) return;
    queueMicrotask(this.#goOnLater);
    this.#takeNext(caller)?.();
  };

  readonly #goOnLater = (): void => process.nextTick(this.#goOn);

  /** The first caller that has work waiting and time left; null: there is none. */
  #nextCaller(): string | null {
    for (const caller of this.#waiting.keys()) if (this.hasTime(caller)) return caller;
    return null;
  }

  /** Removes and returns the next work of a caller. The caller and the line go behind all others. */
  #takeNext(caller: string): (() => void) | undefined {
    const lines = this.#waiting.get(caller) as Lines;
    const [line, works] = firstOf(lines);
    const work = works.shift();
    lines.delete(line);
    if (works.length > 0) lines.set(line, works);
    if (lines.size === 0) this.#waiting.delete(caller);
    else if (this.#waiting.size > 1) {
      this.#waiting.delete(caller);
      this.#waiting.set(caller, lines);
    }
    return work;
  }
}

/** @param map not empty. */
function firstOf<K, V>(map: ReadonlyMap<K, V>): [K, V] {
  return map.entries().next().value as [K, V];
}
