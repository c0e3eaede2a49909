/** What a resolution found, and for how long it may be kept (RFC 2308, RFC 2181 §8, RFC 9520). */

import type { PtrName } from "./ptr-chain.ts";

export type ResolutionStatus = "ok" | "nxdomain" | "nodata" | "servfail" | "refused" | "timeout";

/** The outcome of one question, before it is bounded and timed. */
export interface Finding {
  readonly status: ResolutionStatus;
  /** In the order in which they are shown; empty unless the status is `ok`. */
  readonly names: readonly PtrName[];
  /** The smallest TTL of everything that the outcome rests on, in seconds; null where DNS gives none. */
  readonly ttl: number | null;
}

export interface KeepingRules {
  /** Names of one answer that are kept and shown. */
  readonly namesMax: number;
  readonly ttlMaxSeconds: number;
  readonly negativeTtlMaxSeconds: number;
  readonly failureTtlSeconds: number;
}

/** A finding as it is kept and shown. Times are Unix milliseconds. */
export interface Entry {
  readonly status: ResolutionStatus;
  readonly names: readonly PtrName[];
  /** Names of the answer, shown or not. */
  readonly namesTotal: number;
  /** Nobody has the name, or it has no PTR record: an answer about absence. */
  readonly negative: boolean;
  readonly storedAt: number;
  /** Equal to `storedAt` where it may not be kept. */
  readonly expiresAt: number;
}

export function makeEntry(finding: Finding, now: number, rules: KeepingRules): Entry {
  const { status, names } = finding;
  return {
    status,
    names: names.slice(0, rules.namesMax),
    namesTotal: names.length,
    negative: status === "nxdomain" || status === "nodata",
    storedAt: now,
    expiresAt: now + lifetimeSeconds(finding, rules) * 1_000,
  };
}

/** The TTL of a negative answer: that of its SOA record and what the record says, whichever is less (RFC 2308 §5). */
export function negativeTtl(soa: { readonly ttl: number; readonly minimum: number } | null): number | null {
  return soa === null ? null : Math.min(soa.ttl, soa.minimum);
}

function lifetimeSeconds({ status, ttl }: Finding, rules: KeepingRules): number {
  switch (status) {
    case "ok":
      return Math.min(ttl ?? 0, rules.ttlMaxSeconds);
    case "nxdomain":
    case "nodata":
      // Without an SOA record nobody says for how long the name is absent (RFC 2308 §5).
      return Math.min(ttl ?? 0, rules.negativeTtlMaxSeconds);
    case "servfail":
    case "refused":
      return rules.failureTtlSeconds;
    case "timeout":
      // Depends on how long the asker could wait: the next one may wait longer.
      return 0;
  }
}
