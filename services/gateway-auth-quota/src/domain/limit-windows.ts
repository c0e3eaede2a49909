/** Fixed windows and block sizes (docs/design/protocols.md#limits-by-leases). Times in Unix ms of the store's clock, starts in seconds. */

export type PolicyName = "rate" | "month";

export interface Policy {
  readonly limit: number;
  /** Null: the calendar month, UTC. */
  readonly windowSeconds: number | null;
  /** Units per second that the bucket's rate allows; the same for both policies. */
  readonly perSecond: number;
}

export interface Window {
  /** Unix seconds. */
  readonly start: number;
  /** Unix ms. */
  readonly startMs: number;
  readonly endMs: number;
}

export function windowAt(windowSeconds: number | null, nowMs: number): Window {
  if (windowSeconds === null) {
    const now = new Date(nowMs);
    const startMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
    return { start: startMs / 1_000, startMs, endMs: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) };
  }
  const start = Math.floor(nowMs / 1_000 / windowSeconds) * windowSeconds;
  return { start, startMs: start * 1_000, endMs: (start + windowSeconds) * 1_000 };
}

/** Value of `Reset`, `t` and `Retry-After`: whole seconds, at least one. A caller that waits so long is in the next window. */
export function resetSeconds(window: Window, nowMs: number): number {
  return Math.max(1, Math.ceil((window.endMs - nowMs) / 1_000));
}

export interface BlockRule {
  readonly blockMax: number;
  readonly blockSeconds: number;
  readonly blockShareOfLeft: number;
  readonly monthShareOfLeft: number;
  readonly bridgeSeconds: number;
}

/**
 * Most units that one gateway may hold unspent: enough for a moment, and for a time without the store, but only a small share of the units
 * that are left; at least one.
 *
 * @param pace  recent units per second of the gateway; counted up to the bucket's rate.
 */
export function holdMax(policy: Policy, leased: number, rule: BlockRule, pace: number): number {
  const moment = Math.ceil(policy.perSecond * rule.blockSeconds);
  const bridge = Math.ceil(Math.min(pace, policy.perSecond) * rule.bridgeSeconds);
  // Units of the month that a killed gateway held are lost for weeks, so this share is smaller.
  const ofLeft = policy.windowSeconds === null ? rule.monthShareOfLeft : rule.blockShareOfLeft;
  const share = Math.floor((policy.limit - leased) * ofLeft);
  return Math.max(1, Math.min(rule.blockMax, Math.max(moment, bridge), share));
}
