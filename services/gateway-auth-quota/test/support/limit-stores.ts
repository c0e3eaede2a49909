/** Limit repositories that count, fail, hang, lie or die: what the limiter is tried against. */

import type { GiveBackOutcome, LimitRepository, LimitWindow, TakeOutcome } from "@netfacts/storage";
import { StoreError } from "@netfacts/storage";

/** A counter in memory that does what the contract says, by the plainest code. */
export class FakeLimits implements LimitRepository {
  readonly counters = new Map<string, number>();
  readonly calls: string[] = [];
  now = Date.UTC(2026, 10, 21, 9, 0, 23);
  /** `fails`: answers as a store that cannot be reached; `hangs`: does not answer until released. */
  mode: "works" | "fails" | "hangs" = "works";
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

  async take(window: LimitWindow, limit: number, units: number): Promise<TakeOutcome> {
    this.calls.push(`take ${window.policy} ${units}`);
    if (this.mode === "hangs") await this.#held;
    if (this.mode === "fails") return { outcome: "unknown", cause: away };
    const leased = this.#read(window);
    if (leased + units > limit) return { outcome: "does-not-fit", left: Math.max(0, limit - leased), leased, at: this.now };
    this.counters.set(idOf(window), leased + units);
    return { outcome: "granted", leased: leased + units, at: this.now };
  }

  async giveBack(window: LimitWindow, units: number): Promise<GiveBackOutcome> {
    this.calls.push(`giveBack ${window.policy} ${units}`);
    if (this.mode === "hangs") await this.#held;
    if (this.mode === "fails") return { outcome: "unknown", cause: away };
    const leased = this.#read(window);
    if (leased < units) return { outcome: "refused" };
    this.counters.set(idOf(window), leased - units);
    return { outcome: "returned", leased: leased - units, at: this.now };
  }

  async read(window: LimitWindow): Promise<{ leased: number; at: number }> {
    this.calls.push(`read ${window.policy}`);
    if (this.mode === "hangs") await this.#held;
    if (this.mode === "fails") throw away;
    return { leased: this.#read(window), at: this.now };
  }

  async time(): Promise<number> {
    this.calls.push("time");
    if (this.mode === "hangs") await this.#held;
    if (this.mode === "fails") throw away;
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
