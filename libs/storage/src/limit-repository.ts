/** Shared counters of leased units: one per bucket, policy and window (docs/design/protocols.md#limits-by-leases). */

import type { StoreError } from "./store-error.ts";

/** One fixed window of one policy of one bucket. */
export interface LimitWindow {
  readonly bucket: string;
  readonly policy: string;
  /** Unix seconds. */
  readonly start: number;
  /** Unix milliseconds, some time after the window's end: from then on the counter reads as 0 and may be deleted. */
  readonly expiresAt: number;
}

/** `leased`: units given out after the operation; `at`: the store's own time of it, Unix milliseconds. */
export interface LimitReading {
  readonly leased: number;
  readonly at: number;
  /** Of `leased`: units that other owners said within `saidMs` that they may return. Absent where owners are not told apart. */
  readonly reserved?: number;
  /** Of `leased`: units that other owners held unspent at their last change, within `saidMs`. Absent where owners are not told apart. */
  readonly held?: number;
}

/** What an owner said of its units is believed for so long. */
export const saidMs = 10_000;

export type TakeOutcome =
  | ({ readonly outcome: "granted" } & LimitReading)
  /** Nothing was taken: only `left` units are free, which is fewer than asked for (0 when the limit was lowered below `leased`). */
  | ({ readonly outcome: "does-not-fit"; readonly left: number } & LimitReading)
  /** Whether the units were taken is not known. The caller counts them as lost and never asks for them again, unless `recover` tells. */
  | { readonly outcome: "unknown"; readonly cause: StoreError };

export type GiveBackOutcome =
  | ({ readonly outcome: "returned" } & LimitReading)
  /** The counter is gone, or holds less than was to be returned, or failed in a way that cannot be looked up: the units are lost. */
  | { readonly outcome: "refused" }
  | { readonly outcome: "unknown"; readonly cause: StoreError };

/** By which a change of a counter is known again. Numbers of one owner only rise. */
export interface LimitMark {
  /** Letters and digits; of one process, and of no other before or after it. */
  readonly owner: string;
  /** A positive integer. */
  readonly number: number;
  /** Units that the owner has leased and may return, after this change. Absent: it never had any. */
  readonly reserved?: number;
  /** Units that the owner holds unspent after this change. */
  readonly held?: number;
}

export type RecoverOutcome =
  | ({ readonly outcome: "done" | "not-done" } & LimitReading)
  | { readonly outcome: "unknown"; readonly cause: StoreError };

export interface LimitRepository {
  /**
   * Takes all of `units` or none, atomically over all processes: `leased` never rises above `limit`.
   *
   * @param mark  for `recover`.
   * @throws RangeError unless 1 ≤ units ≤ limit, both integers.
   */
  take(window: LimitWindow, limit: number, units: number, mark?: LimitMark): Promise<TakeOutcome>;
  /** Gives back units that the caller took and did not spend. Never repeat it after `unknown`. */
  giveBack(window: LimitWindow, units: number, mark?: LimitMark): Promise<GiveBackOutcome>;
  /**
   * Whether the last change of this owner, whose outcome was unknown, was done. One that was not done never will be, however late it
   * arrives. Safe to repeat.
   */
  recover(window: LimitWindow, mark: LimitMark): Promise<RecoverOutcome>;
  /**
   * Reads without taking; 0 leased where there is no counter.
   *
   * @param owner  whose own `held` and `reserved` are left out.
   */
  read(window: LimitWindow, owner?: string): Promise<LimitReading>;
  /** The store's clock, Unix milliseconds. */
  time(): Promise<number>;
}
