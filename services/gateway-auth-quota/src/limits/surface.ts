/** The interface of limits to the HTTP edge. */

import type { UsageClass } from "@netfacts/contracts";
import type { KeyLimits } from "@netfacts/keys";
import type { LimitRepository } from "@netfacts/storage";
import type { DebtEvent } from "./debt.ts";

/** The members of a key that the limiter reads; a `VerifiedKey` has them. Admission is cheapest if `limits` is the same object each time. */
export interface LimitedKey {
  readonly id: string;
  readonly bucket: string;
  readonly limits: KeyLimits;
  /** Absent: it was not replaced. Limits of a replaced key do not hold once a request of its successor came. */
  readonly rotation?: { readonly replacedBy: string | null };
}

/** The units and the slot that an admission took; `settle` or `withdraw`, and `release`, return them. */
export interface Charge {
  /** Units of the rate that were taken and not returned. */
  rate: number;
  /** Start of the window that they belong to, Unix seconds. */
  readonly rateWindowStart: number;
  /** Units of the month that were taken, and the start of the window they belong to, Unix seconds. */
  month: number;
  readonly monthWindowStart: number;
  /** Store time of the admission, Unix ms. */
  readonly at: number;
  /** Whether it holds one of the key's concurrent requests until `release`. */
  readonly slot: boolean;
  /** Class in which it is counted. */
  readonly usage: UsageClass;
  /** False: the units are for items of a request that has its own admission. */
  readonly isRequest: boolean;
  /** Units of `month` that will not come back. */
  kept: number;
}

/** The cost of a request. */
export interface Cost {
  /** Units of the month. */
  readonly month: number;
  /** Units of the rate; default: 1. A request that costs more than the limit of the key is never admitted. */
  readonly rate?: number;
  /** Default: `other`. */
  readonly usage?: UsageClass;
  /** Part of a request that is already admitted: takes no concurrent request of the key, and is not a request in usage. Default: false. */
  readonly isPart?: boolean;
}

/** Names of limits, as in the headers. */
export type LimitName = "rate" | "month" | "concurrency";

export interface Admission {
  readonly admitted: true;
  readonly key: LimitedKey;
  readonly charge: Charge;
}

export interface Refusal {
  readonly admitted: false;
  readonly key: LimitedKey;
  readonly code: "rate_limit_exceeded" | "quota_exceeded" | "concurrency_limit_exceeded" | "limits_unavailable";
  /** Time until none of the violated policies refuses. */
  readonly retryAfterSeconds: number;
  /** All policies that are known to refuse, first that of `code`; empty for `limits_unavailable`. */
  readonly violatedPolicies: readonly LimitName[];
  /** With `limits_unavailable`: the store is available, but units of the month are reserved by batches, and may come back. */
  readonly isReserved?: boolean;
}

export type Decision = Admission | Refusal;

/** One limit of a key that has a window, as `/me` shows it. */
export interface WindowStanding {
  readonly name: "rate" | "month";
  readonly limit: number;
  /** Null for the month. */
  readonly windowSeconds: number | null;
  readonly used: number;
  readonly remaining: number;
  readonly resetsInSeconds: number;
  /** End of the window in store time, Unix ms. */
  readonly resetsAt: number;
}

/** Concurrent requests at this gateway: `used` are being answered. */
export interface ConcurrencyStanding {
  readonly name: "concurrency";
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
}

export type LimitStanding = WindowStanding | ConcurrencyStanding;

export interface Limiter {
  /** Asks the store for its time, so that the first requests only have to wait for their units. Waits as `admit` does. Never throws. */
  learnTime(): Promise<void>;
  /**
   * Takes one concurrent request of the key if these are limited, then charges `cost.rate` units of the rate, then `cost.month` units of the
   * month; all or nothing. The decision is immediate if the local blocks have the units; else it waits for the store, at most 500 ms. Never
   * throws.
   */
  admit(key: LimitedKey, cost: Cost): Decision | Promise<Decision>;
  /**
   * Ends the charge of an admitted request; call once, before `headers`. `answered` false (304, 4xx, 5xx) returns its units of the month.
   * With a number, that many of the charged units were answered (batches), and the rest is returned.
   */
  settle(admission: Admission, answered: boolean | number): void;
  /** Returns that many of the units of the rate that an admission took. */
  returnRate(admission: Admission, units: number): void;
  /** Call instead of `settle` if the month refuses the items of the request: returns all units that it took, and counts it as refused. */
  withdraw(admission: Admission): void;
  /**
   * Takes units of the month for the items of an admitted request: `units`, or all that are left if these are at least `atLeast` (default:
   * `units`, all or nothing). `charge.month` is their number. Call `settle` once to return those that were not answered. Waits and fails as
   * `admit` does, but never refuses because of the rate.
   */
  reserveMonth(key: LimitedKey, units: number, atLeast?: number): Decision | Promise<Decision>;
  /**
   * Marks units of `reserveMonth` that `settle` will not return. While unmarked units may come back, the month of the key is not used up:
   * requests that do not fit get `limits_unavailable`, and may soon be tried again.
   *
   * @returns how many units of the admission were marked: at most those that were not marked before.
   */
  keep(admission: Admission, units: number): number;
  /** Returns units of `reserveMonth` before `settle`. @returns how many: at most those that were not marked by `keep`. */
  returnMonth(admission: Admission, units: number): number;
  /** Frees the slot of an admission when its request has ended, in whatever way. Call once, and only if `charge.slot`. */
  release(admission: Admission): void;
  /** Current `RateLimit-Policy`, `RateLimit`, `X-RateLimit-*` and `X-Quota-*`, also for refusals. The edge sets `Retry-After`. */
  headers(key: LimitedKey): Readonly<Record<string, string>>;
  /** Rate, month, and concurrency if it is limited. Null if the store is unavailable and the state of a window is unknown. */
  peek(key: LimitedKey): Promise<readonly LimitStanding[] | null>;
  /** Pays debt and returns every unspent unit. Call after the last request was settled. */
  stop(): Promise<void>;
}

export interface LimiterSettings {
  /** Time that a request may wait for a lease, which is the time that the store has for its reply. */
  readonly waitMs: number;
  /** Requests that may wait for one lease at a time. */
  readonly waitersMax: number;
  /** Least time before the store is asked again for an exhausted or unavailable window. */
  readonly askAgainMs: number;
  /** Unspent units are returned after this time without a request, in ms; for a seldom used bucket, after three of its usual pauses. */
  readonly idleReturnMs: number;
  /** Unspent units are returned after at most this time without a request, in ms. */
  readonly idleReturnMsMax: number;
  /** Maximum number of units in a block. */
  readonly blockMax: number;
  /** A block has at most the units that the rate limit allows in this time, or those of `bridgeSeconds` if they are more. */
  readonly blockSeconds: number;
  /** A block lasts at most this time at this gateway's recent pace, in seconds. */
  readonly bridgeSeconds: number;
  /** A block has at most this share of what is left of the rate window. */
  readonly blockShareOfLeft: number;
  /** A block has at most this share of what is left of the month. */
  readonly monthShareOfLeft: number;
  /**
   * Units that may be admitted while the store is unavailable, for each bucket, policy and window. 0: none; requests are refused. This is the
   * only setting that can admit more than the limit: at most this many units at each gateway.
   */
  readonly debtMax: number;
}

export interface LimiterOptions {
  readonly store: { readonly limits: LimitRepository };
  /** `monotonic`: ms that never jump; default `performance.now`. Wall time is never read: windows follow the store's clock. */
  readonly clock?: { monotonic?(): number };
  readonly settings?: Partial<LimiterSettings>;
  /** Called once for each settled admission. `counted`: answered units of the month. `uncounted`: 1 for a request without one, else 0. */
  readonly onSettled?: (admission: Admission, counted: number, uncounted: number) => void;
  /** Called with an unexpected exception in the leases of one key. Only requests of this key are refused. */
  readonly onFault?: (error: unknown) => void;
  /** Called for units that were admitted without the store, and when they are settled, refunded or written off. */
  readonly onDebt?: (event: DebtEvent, policy: "rate" | "month", units: number) => void;
}
