/** Counters in memory behind a line that delays, loses and reorders: what the contract of the limits says, and its worst weather. */

import {
  type GiveBackOutcome,
  type LimitMark,
  type LimitReading,
  type LimitRepository,
  type LimitWindow,
  type RecoverOutcome,
  StoreError,
  saidMs,
  type TakeOutcome,
} from "@netfacts/storage";

export interface Weather {
  /** Longest way of a request, and of its reply, ms. */
  readonly wayMsMax: number;
  /** Of 100 requests, so many never arrive. */
  readonly lost: number;
  /** Of 100 requests, so many are done and their replies are lost. */
  readonly mute: number;
  /** Of 100 requests, so many arrive long after their time. */
  readonly late: number;
  /** A lost request fails at once, as one to a closed port; else after the whole time. */
  readonly failsAtOnce: boolean;
}

export const calm: Weather = { wayMsMax: 15, lost: 0, mute: 0, late: 0, failsAtOnce: false };

/** As that of the store's client. */
const timeoutMs = 500;
const lateMsMax = 25_000;
const away = new StoreError("unavailable", "simulated", "does not answer");

interface Said {
  readonly units: number;
  readonly at: number;
}

interface Counter {
  readonly window: LimitWindow;
  leased: number;
  /** The highest limit that was asked with: none of the takes may exceed it. */
  limit: number;
  readonly marks: Map<string, number>;
  readonly fences: Map<string, number>;
  readonly held: Map<string, Said>;
  readonly reserved: Map<string, Said>;
}

export class FaultyLimits implements LimitRepository {
  readonly counters = new Map<string, Counter>();
  /** What no limiter may ever do. */
  readonly violations: string[] = [];
  weather: Weather = calm;
  calls = 0;
  /** Requests that nobody waits for any more, and that have not arrived. */
  readonly #late = new Set<() => void>();
  readonly #now: () => number;
  readonly #random: () => number;

  constructor(now: () => number, random: () => number) {
    this.#now = now;
    this.#random = random;
  }

  /** Everything that is under way arrives. */
  arrive(): void {
    for (const work of this.#late) work();
    this.#late.clear();
  }

  async take(window: LimitWindow, limit: number, units: number, mark: LimitMark): Promise<TakeOutcome> {
    if (!(Number.isInteger(units) && units >= 1 && units <= limit)) this.violations.push(`take ${units} of ${limit}, ${window.policy}`);
    const take = (): TakeOutcome => {
      const counter = this.#counter(window);
      counter.limit = Math.max(counter.limit, limit);
      if (counter.leased + units <= limit && isFirst(counter, mark)) {
        counter.leased += units;
        this.#note(counter, mark);
        return { outcome: "granted", ...this.#reading(counter, mark.owner) };
      }
      const left = Math.min(units - 1, Math.max(0, limit - counter.leased));
      return { outcome: "does-not-fit", left, ...this.#reading(counter, mark.owner) };
    };
    return (await this.#sent(take)) ?? { outcome: "unknown", cause: away };
  }

  async giveBack(window: LimitWindow, units: number, mark: LimitMark): Promise<GiveBackOutcome> {
    if (!(Number.isInteger(units) && units >= 1)) this.violations.push(`give back ${units}, ${window.policy}`);
    const giveBack = (): GiveBackOutcome => {
      const counter = this.#counter(window);
      if (!isFirst(counter, mark)) return { outcome: "refused" };
      if (counter.leased < units) {
        this.violations.push(`give back ${units} of ${counter.leased}, ${window.policy}`);
        return { outcome: "refused" };
      }
      counter.leased -= units;
      this.#note(counter, mark);
      return { outcome: "returned", ...this.#reading(counter, mark.owner) };
    };
    return (await this.#sent(giveBack)) ?? { outcome: "unknown", cause: away };
  }

  async recover(window: LimitWindow, { owner, number }: LimitMark): Promise<RecoverOutcome> {
    const recover = (): RecoverOutcome => {
      const counter = this.#counter(window);
      counter.fences.set(owner, Math.max(counter.fences.get(owner) ?? 0, number + 1));
      const isDone = counter.marks.get(owner) === number;
      return { outcome: isDone ? "done" : "not-done", ...this.#reading(counter, owner) };
    };
    return (await this.#sent(recover)) ?? { outcome: "unknown", cause: away };
  }

  async read(window: LimitWindow, owner?: string): Promise<LimitReading> {
    const reading = await this.#sent(() => this.#reading(this.#counter(window), owner));
    if (reading === null) throw away;
    return reading;
  }

  async time(): Promise<number> {
    const time = await this.#sent(() => this.#now());
    if (time === null) throw away;
    return time;
  }

  /** @returns null where nothing was heard in time. */
  #sent<T>(work: () => T): Promise<T | null> {
    this.calls += 1;
    const { promise, resolve } = Promise.withResolvers<T | null>();
    const { wayMsMax, lost, mute, late, failsAtOnce } = this.weather;
    const way = (): number => 1 + Math.floor(this.#random() * wayMsMax);
    const fate = this.#random() * 100;
    if (fate < lost + mute + late) setTimeout(() => resolve(null), failsAtOnce ? 1 : timeoutMs);
    if (fate < lost) return promise;
    const isLate = fate >= lost + mute && fate < lost + mute + late;
    const arrive = (): void => {
      if (!this.#late.delete(arrive)) return;
      const answer = work();
      if (fate >= lost + mute + late) setTimeout(() => resolve(answer), way());
    };
    this.#late.add(arrive);
    setTimeout(arrive, isLate ? 1 + Math.floor(this.#random() * lateMsMax) : way());
    if (fate >= lost + mute + late) setTimeout(() => resolve(null), timeoutMs);
    return promise;
  }

  #counter(window: LimitWindow): Counter {
    const id = `${window.policy} ${window.start}`;
    const made = { window, leased: 0, limit: 0, marks: new Map(), fences: new Map(), held: new Map(), reserved: new Map() };
    const counter = this.counters.get(id) ?? made;
    this.counters.set(id, counter);
    return counter;
  }

  #note({ marks, held, reserved }: Counter, mark: LimitMark): void {
    marks.set(mark.owner, mark.number);
    if (mark.held !== undefined) held.set(mark.owner, { units: mark.held, at: this.#now() });
    if (mark.reserved !== undefined) reserved.set(mark.owner, { units: mark.reserved, at: this.#now() });
  }

  #reading({ leased, held, reserved }: Counter, asker?: string): LimitReading {
    const ofOthers = (said: ReadonlyMap<string, Said>): number =>
      [...said].reduce((sum, [owner, { units, at }]) => sum + (owner !== asker && this.#now() - at <= saidMs ? units : 0), 0);
    return { leased, at: this.#now(), reserved: ofOthers(reserved), held: ofOthers(held) };
  }
}

/** The change is the first of its number, and nobody has given it up. */
function isFirst({ marks, fences }: Counter, { owner, number }: LimitMark): boolean {
  return (marks.get(owner) ?? 0) < number && (fences.get(owner) ?? 0) <= number;
}
