/** Shared counters of leased units: one per bucket, policy and window (docs/design/protocols.md#limits-by-leases). */

import type { StoreError } from "./store-error.ts";

/** One fixed window of one policy of one bucket. */
export interface LimitWindow {
  readonly bucket: string;
  readonly policy: string;
  /** Unix seconds. */
  readonly start: number;
  /** Unix milliseconds, some time after the end of the window. From then on the counter reads as 0 and may be deleted. */
  readonly expiresAt: number;
}

/** `leased`: units that are leased after the operation; `at`: time of the operation on the store's clock, Unix milliseconds. */
export interface LimitReading {
  readonly leased: number;
  readonly at: number;
  /** Units of `leased` that other owners reported within `saidMs` that they may return. Absent if the store does not distinguish owners. */
  readonly reserved?: number;
  /** Units of `leased` that other owners held unspent at their last change, within `saidMs`. Absent if the store does not distinguish owners. */
  readonly held?: number;
}

/** Time for which an owner's report about its units is valid. */
export const saidMs = 10_000;

export type TakeOutcome =
  | ({ readonly outcome: "granted" } & LimitReading)
  /** Nothing was taken: only `left` units are free, fewer than requested (0 when the limit was lowered below `leased`). */
  | ({ readonly outcome: "does-not-fit"; readonly left: number } & LimitReading)
  /** It is not known whether the units were taken. The caller counts them as lost and never asks for them again, unless `recover` finds out. */
  | { readonly outcome: "unknown"; readonly cause: StoreError };

export type GiveBackOutcome =
  | ({ readonly outcome: "returned" } & LimitReading)
  /** The units are lost: the counter is gone, or holds less than was to be returned, or a failure left it open and cannot be looked up. */
  | { readonly outcome: "refused" }
  | { readonly outcome: "unknown"; readonly cause: StoreError };

/** Identifies a change of a counter. The numbers of one owner only increase. */
export interface LimitMark {
  /** Letters and digits; unique to one process, and never used by another before or after it. */
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
   * Takes all of `units` or none, atomically over all processes: `leased` never exceeds `limit`.
   *
   * @param mark  for `recover`.
   * @throws RangeError unless 1 ≤ units ≤ limit, both integers.
   */
  take(window: LimitWindow, limit: number, units: number, mark?: LimitMark): Promise<TakeOutcome>;
  /** Returns units that the caller took and did not spend. Never repeat it after `unknown`. */
  giveBack(window: LimitWindow, units: number, mark?: LimitMark): Promise<GiveBackOutcome>;
  /**
   * Finds out whether the last change of this owner, whose outcome was unknown, was done. If not, it never will be, however late it arrives. Safe to
   * repeat.
   */
  recover(window: LimitWindow, mark: LimitMark): Promise<RecoverOutcome>;
  /**
   * Reads without taking; `leased` is 0 if there is no counter.
   *
   * @param owner  its own `held` and `reserved` are left out.
   */
  read(window: LimitWindow, owner?: string): Promise<LimitReading>;
  /** The store's clock, Unix milliseconds. */
  time(): Promise<number>;
}
