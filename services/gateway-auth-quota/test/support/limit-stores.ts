/** Limit repositories that count, fail, hang, lie or die: what the limiter is tried against. */

import type {
  GiveBackOutcome,
  LimitMark,
  LimitReading,
  LimitRepository,
  LimitWindow,
  RecoverOutcome,
  TakeOutcome,
} from "@netfacts/storage";
import { StoreError, saidMs } from "@netfacts/storage";

/** A counter in memory that does what the contract says, by the plainest code. */
export class FakeLimits implements LimitRepository {
  readonly counters = new Map<string, number>();
  readonly calls: string[] = [];
  now = Date.UTC(2026, 10, 21, 9, 0, 23);
  /**
   * `fails`: answers as a store that cannot be reached; `hangs`: does not answer until released; `mute`: does what it is asked and
   * answers as one that cannot be reached; `late`: does takes and returns only when they are released, and says nothing.
   */
  mode: "works" | "fails" | "hangs" | "mute" | "late" = "works";
  /** Changes that are under way to the store. */
  readonly late: (() => void)[] = [];
  readonly #marks = new Map<string, number>();
  readonly #fences = new Map<string, number>();
  /** By counter and owner. */
  readonly #reserved = new Map<string, { owner: string; units: number; at: number }>();
  readonly #heldUnits = new Map<string, { owner: string; units: number; at: number }>();
  #release: () => void = () => {};
  #held: Promise<void> = Promise.resolve();

  hang(): void {
    this.mode = "hangs";
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    this.#release = resolve;
  }

  release(): void {
    this.mode = "works";
    this.#release();
  }

  leased(bucket: string, policy: string): number {
    return [...this.counters].filter(([id]) => id.startsWith(`${bucket}:${policy}:`)).reduce((sum, [, leased]) => sum + leased, 0);
  }

  async take(window: LimitWindow, limit: number, units: number, mark?: LimitMark): Promise<TakeOutcome> {
    this.calls.push(`take ${window.policy} ${units}`);
    if (this.mode === "hangs") await this.#held;
    const take = () => this.#take(window, limit, units, mark);
    if (this.mode === "late") this.late.push(take);
    if (this.mode === "mute") take();
    return this.mode === "works" || this.mode === "hangs" ? take() : { outcome: "unknown", cause: away };
  }

  #take(window: LimitWindow, limit: number, units: number, mark?: LimitMark): TakeOutcome {
    const leased = this.#read(window);
    if (!this.#mark(window, mark)) return { outcome: "does-not-fit", left: Math.max(0, limit - leased), leased, at: this.now };
    const others = this.#others(window, mark?.owner);
    if (leased + units > limit) return { outcome: "does-not-fit", left: Math.max(0, limit - leased), leased, at: this.now, ...others };
    this.counters.set(idOf(window), leased + units);
    this.#reserve(window, mark);
    return { outcome: "granted", leased: leased + units, at: this.now, ...others };
  }

  async giveBack(window: LimitWindow, units: number, mark?: LimitMark): Promise<GiveBackOutcome> {
    this.calls.push(`giveBack ${window.policy} ${units}`);
    if (this.mode === "hangs") await this.#held;
    const giveBack = () => this.#giveBack(window, units, mark);
    if (this.mode === "late") this.late.push(giveBack);
    if (this.mode === "mute") giveBack();
    return this.mode === "works" || this.mode === "hangs" ? giveBack() : { outcome: "unknown", cause: away };
  }

  async recover(window: LimitWindow, { owner, number }: LimitMark): Promise<RecoverOutcome> {
    this.calls.push(`recover ${window.policy}`);
    if (this.mode === "hangs") await this.#held;
    if (this.mode !== "works") return { outcome: "unknown", cause: away };
    const id = `${idOf(window)} ${owner}`;
    this.#fences.set(id, Math.max(this.#fences.get(id) ?? 0, number + 1));
    return {
      outcome: this.#marks.get(id) === number ? "done" : "not-done",
      leased: this.#read(window),
      at: this.now,
      ...this.#others(window, owner),
    };
  }

  /** What others than the asker have said of late. */
  #others(window: LimitWindow, asker: string | undefined): { reserved: number; held: number } {
    const ofOthers = (said: ReadonlyMap<string, { owner: string; units: number; at: number }>): number =>
      [...said]
        .filter(([id, { owner, at }]) => id.startsWith(`${idOf(window)} `) && owner !== asker && this.now - at <= saidMs)
        .reduce((sum, [, { units }]) => sum + units, 0);
    return { reserved: ofOthers(this.#reserved), held: ofOthers(this.#heldUnits) };
  }

  #reserve(window: LimitWindow, mark: LimitMark | undefined): void {
    if (mark === undefined) return;
    const { owner, reserved, held } = mark;
    if (reserved !== undefined) this.#reserved.set(`${idOf(window)} ${owner}`, { owner, units: reserved, at: this.now });
    if (held !== undefined) this.#heldUnits.set(`${idOf(window)} ${owner}`, { owner, units: held, at: this.now });
  }

  #mark(window: LimitWindow, mark: LimitMark | undefined): boolean {
    if (mark === undefined) return true;
    const id = `${idOf(window)} ${mark.owner}`;
    if ((this.#fences.get(id) ?? 0) > mark.number || (this.#marks.get(id) ?? 0) >= mark.number) return false;
    this.#marks.set(id, mark.number);
    return true;
  }

  #giveBack(window: LimitWindow, units: number, mark?: LimitMark): GiveBackOutcome {
    const leased = this.#read(window);
    if (!this.#mark(window, mark)) return { outcome: "refused" };
    if (leased < units) return { outcome: "refused" };
    this.counters.set(idOf(window), leased - units);
    this.#reserve(window, mark);
    return { outcome: "returned", leased: leased - units, at: this.now, ...this.#others(window, mark?.owner) };
  }

  async read(window: LimitWindow, owner?: string): Promise<LimitReading> {
    this.calls.push(`read ${window.policy}`);
    if (this.mode === "hangs") await this.#held;
    if (this.mode !== "works" && this.mode !== "hangs") throw away;
    return { leased: this.#read(window), at: this.now, ...this.#others(window, owner) };
  }

  async time(): Promise<number> {
    this.calls.push("time");
    if (this.mode === "hangs") await this.#held;
    if (this.mode !== "works" && this.mode !== "hangs") throw away;
    return this.now;
  }

  #read(window: LimitWindow): number {
    return this.counters.get(idOf(window)) ?? 0;
  }
}

const away = new StoreError("unavailable", "fake", "is away");

function idOf({ bucket, policy, start }: LimitWindow): string {
  return `${bucket}:${policy}:${start}`;
}
