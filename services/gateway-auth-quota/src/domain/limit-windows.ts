/** Fixed windows and block sizes (docs/design/protocols.md#limits-by-leases). Times in Unix ms of the store's clock, starts in seconds. */

export type PolicyName = "rate" | "month";

export interface Policy {
  readonly limit: number;
  /** Null: the calendar month, UTC. */
  readonly windowSeconds: number | null;
  /** How many units per second the bucket's rate allows to spend, of whichever policy. */
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

/** `Reset`, `t` and `Retry-After`: whole seconds, at least one, so that a caller who waits so long is in the next window. */
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
 * What one gateway may hold unspent: enough for a moment, and for as long as the store may be away; little of what is left; at least one
 * unit.
 *
 * @param pace  units a second that the gateway spends of late; counted up to the bucket's rate.
 */
export function holdMax(policy: Policy, leased: number, rule: BlockRule, pace: number): number {
  const moment = Math.ceil(policy.perSecond * rule.blockSeconds);
  const bridge = Math.ceil(Math.min(pace, policy.perSecond) * rule.bridgeSeconds);
  // What a killed gateway held of a month is missing for weeks.
  const ofLeft = policy.windowSeconds === null ? rule.monthShareOfLeft : rule.blockShareOfLeft;
  const share = Math.floor((policy.limit - leased) * ofLeft);
  return Math.max(1, Math.min(rule.blockMax, Math.max(moment, bridge), share));
}
