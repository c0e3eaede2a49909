/** The types by which the HTTP edge knows limits. */

import type { KeyLimits, LimitRepository } from "@netfacts/storage";

/** What the limiter reads of a key; a `VerifiedKey` is one. The same object each time makes admission cheapest. */
export interface LimitedKey {
  readonly bucket: string;
  readonly limits: KeyLimits;
}

/** What an admission took; given back by `settle`. */
export interface Charge {
  /** Units of the month that were taken, and the window they belong to. */
  readonly month: number;
  readonly monthWindowStart: number;
}

export interface Admission {
  readonly admitted: true;
  readonly key: LimitedKey;
  readonly charge: Charge;
}

export interface Refusal {
  readonly admitted: false;
  readonly key: LimitedKey;
  readonly code: "rate_limit_exceeded" | "quota_exceeded" | "limits_unavailable";
  readonly retryAfterSeconds: number;
  /** Names of the policies that refused, as in the headers: `rate`, `month`; empty for `limits_unavailable`. */
  readonly violatedPolicies: readonly ("rate" | "month")[];
}

export type Decision = Admission | Refusal;

/** One limit of one key, as `/me` shows it. */
export interface LimitStanding {
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

export interface Limiter {
  /**
   * Charges one rate unit and `cost.month` month units (all or nothing), rate first; when the month refuses, the rate unit goes back.
   * Waits at most 250 ms, and only when the local block is used up; else the decision is there at once. Never throws.
   */
  admit(key: LimitedKey, cost: { readonly month: number }): Decision | Promise<Decision>;
  /**
   * Tells how an admitted request ended: `answered` false (304, 4xx, 5xx) refunds its month units. Call once, before `headers`.
   * With a number, that many of the charged units were answered (batches) and the rest goes back.
   */
  settle(decision: Decision, answered: boolean | number): void;
  /** `RateLimit-Policy`, `RateLimit`, `X-RateLimit-*`, `X-Quota-*` as of now; also for refusals. `Retry-After` is the edge's. */
  headers(key: LimitedKey): Readonly<Record<string, string>>;
  /** Both standings, rate first; null while the store is away and nothing was ever seen of the window. */
  peek(key: LimitedKey): Promise<readonly [LimitStanding, LimitStanding] | null>;
  /** Gives every unspent unit back. Call after the last request has been settled. */
  stop(): Promise<void>;
}

export interface LimiterSettings {
  /** How long a request may wait for a lease. */
  readonly waitMs: number;
  /** Requests that may wait for one lease at a time. */
  readonly waitersMax: number;
  /** An exhausted or unreachable window is asked again no sooner than this. */
  readonly askAgainMs: number;
  /** Unspent units go back after this time without a request. */
  readonly idleReturnMs: number;
  /** A block is at most so many units … */
  readonly blockMax: number;
  /** … at most what the rate limit spends in this time … */
  readonly blockSeconds: number;
  /** … and at most this share of what is left. */
  readonly blockShareOfLeft: number;
}

export interface LimiterOptions {
  readonly store: { readonly limits: LimitRepository };
  /** `monotonic`: ms that never jump; default `performance.now`. Wall time is never read: windows follow the store's clock. */
  readonly clock?: { monotonic?(): number };
  readonly settings?: Partial<LimiterSettings>;
}
