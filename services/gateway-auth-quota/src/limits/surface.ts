/** The types by which the HTTP edge knows limits. */

import type { UsageClass } from "@netfacts/contracts";
import type { KeyLimits } from "@netfacts/keys";
import type { LimitRepository } from "@netfacts/storage";
import type { DebtEvent } from "./debt.ts";

/** What the limiter reads of a key; a `VerifiedKey` is one. The same object each time makes admission cheapest. */
export interface LimitedKey {
  readonly id: string;
  readonly bucket: string;
  readonly limits: KeyLimits;
}

/** What an admission took; given back by `settle` or `withdraw`, and `release`. */
export interface Charge {
  /** Units of the rate that were taken and not given back. */
  rate: number;
  /** Start of the window that they belong to, Unix seconds. */
  readonly rateWindowStart: number;
  /** Units of the month that were taken, and the start of the window they belong to, Unix seconds. */
  readonly month: number;
  readonly monthWindowStart: number;
  /** Store time of the admission, Unix ms. */
  readonly at: number;
  /** Whether one of the key's requests at a time is taken, until `release`. */
  readonly slot: boolean;
  /** What it is counted as. */
  readonly usage: UsageClass;
  /** False: units for items of a request that has an admission of its own. */
  readonly isRequest: boolean;
  /** Of `month`: units that will not come back. */
  kept: number;
}

/** What a request asks for. */
export interface Cost {
  /** Units of the month. */
  readonly month: number;
  /** Units of the rate; default: 1. More than the limit of the key are never admitted. */
  readonly rate?: number;
  /** Default: `other`. */
  readonly usage?: UsageClass;
  /** Part of a request that was admitted before: takes none of the key's requests at a time, and is no request in usage. Default: false. */
  readonly isPart?: boolean;
}

/** As in the headers. */
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
  /** Until none of the violated policies refuses. */
  readonly retryAfterSeconds: number;
  /** Every policy that is known to refuse, the one of `code` first; empty for `limits_unavailable`. */
  readonly violatedPolicies: readonly LimitName[];
  /** With `limits_unavailable`: the store is there, and what batches have reserved of the month may come back. */
  readonly isReserved?: boolean;
}

export type Decision = Admission | Refusal;

/** One limit with a window of one key, as `/me` shows it. */
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

/** Requests at a time, at this gateway: `used` are being answered. */
export interface ConcurrencyStanding {
  readonly name: "concurrency";
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
}

export type LimitStanding = WindowStanding | ConcurrencyStanding;

export interface Limiter {
  /** Asks the store for its time, so that the first requests wait for their units only. Waits as `admit` does, and never throws. */
  learnTime(): Promise<void>;
  /**
   * Takes one of the key's requests at a time where it has a bound of these, then charges `cost.rate` rate units and `cost.month` month
   * units (all or nothing), in this order; what refuses gives back what was taken before it. Waits at most 500 ms, and only when the local block is used up; else the decision is there at once. Never throws.
   */
  admit(key: LimitedKey, cost: Cost): Decision | Promise<Decision>;
  /**
   * Tells how an admitted request ended: `answered` false (304, 4xx, 5xx) refunds its month units. Call once, before `headers`.
   * With a number, that many of the charged units were answered (batches) and the rest goes back.
   */
  settle(admission: Admission, answered: boolean | number): void;
  /** Gives back so many of the rate units that an admission took. */
  returnRate(admission: Admission, units: number): void;
  /** In place of `settle`, where the month refuses what the request is about: all that it took goes back, and it counts as refused. */
  withdraw(admission: Admission): void;
  /**
   * Takes month units for the items of a request that was admitted before: all of `units`, or where the month has fewer left, as many as
   * it has, but not fewer than `atLeast` (default: `units`, all or nothing). How many there are is `charge.month`; give back by `settle`
   * what was not answered, once. Waits and fails as `admit` does; never refuses for the rate.
   */
  reserveMonth(key: LimitedKey, units: number, atLeast?: number): Decision | Promise<Decision>;
  /**
   * Of units that `reserveMonth` gave, so many will not come back at `settle`. While any may, the month of the key is not over: what it
   * refuses is told `limits_unavailable`, to be tried again soon.
   *
   * @returns how many of the admission's units these are: no more than were not kept before.
   */
  keep(admission: Admission, units: number): number;
  /** The request of an admission is over, however it ended: the next may come in its place. Call once, for `charge.slot` only. */
  release(admission: Admission): void;
  /** `RateLimit-Policy`, `RateLimit`, `X-RateLimit-*`, `X-Quota-*` as of now; also for refusals. `Retry-After` is the edge's. */
  headers(key: LimitedKey): Readonly<Record<string, string>>;
  /** Rate, month, and concurrency where it is bounded; null while the store is away and nothing was ever seen of the window. */
  peek(key: LimitedKey): Promise<readonly LimitStanding[] | null>;
  /** Settles what is owed and gives every unspent unit back. Call after the last request has been settled. */
  stop(): Promise<void>;
}

export interface LimiterSettings {
  /** How long a request may wait for a lease: as long as the store may take for it. */
  readonly waitMs: number;
  /** Requests that may wait for one lease at a time. */
  readonly waitersMax: number;
  /** An exhausted or unreachable window is asked again no sooner than this. */
  readonly askAgainMs: number;
  /** Unspent units go back after this time without a request, in ms; for a bucket that is seldom used, after three of its usual pauses. */
  readonly idleReturnMs: number;
  /** Unspent units go back after this time at the latest, in ms. */
  readonly idleReturnMsMax: number;
  /** Maximum number of units in a block. */
  readonly blockMax: number;
  /** A block has at most the units that the rate limit allows in this time, or those of `bridgeSeconds` where they are more. */
  readonly blockSeconds: number;
  /** A block lasts at most this time at this gateway's recent pace, in seconds. */
  readonly bridgeSeconds: number;
  /** A block has at most this share of what is left of the rate window. */
  readonly blockShareOfLeft: number;
  /** A block has at most this share of what is left of the month. */
  readonly monthShareOfLeft: number;
  /**
   * While the store is away: units that may be admitted without it, of each bucket, policy and window. 0: none, requests are refused. The
   * only setting that can let more in than the limit: at most so many of each gateway.
   */
  readonly debtMax: number;
}

export interface LimiterOptions {
  readonly store: { readonly limits: LimitRepository };
  /** `monotonic`: ms that never jump; default `performance.now`. Wall time is never read: windows follow the store's clock. */
  readonly clock?: { monotonic?(): number };
  readonly settings?: Partial<LimiterSettings>;
  /** Told once of each admission that was settled: `counted` of its month units were answered; `uncounted` is 1 for a request of none. */
  readonly onSettled?: (admission: Admission, counted: number, uncounted: number) => void;
  /** Told of an exception that nobody expected, in work on the leases of one key: its requests are refused, and no others. */
  readonly onFault?: (error: unknown) => void;
  /** Told of units that were admitted without the store, and of what became of them. */
  readonly onDebt?: (event: DebtEvent, policy: "rate" | "month", units: number) => void;
}
