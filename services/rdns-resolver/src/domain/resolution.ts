/** The result of a resolution, and the time that it may be cached (RFC 2308, RFC 2181 §8, RFC 9520). */

import type { ForwardConfirmation } from "@netfacts/contracts";
import type { DnssecState } from "./dnssec.ts";

export type ResolutionStatus = "ok" | "nxdomain" | "nodata" | "servfail" | "refused" | "timeout";

export interface PtrName {
  /** As received, escaped as in RFC 1035 §5.1, without a dot at the end. */
  readonly name: string;
  readonly ttl: number;
  /** Null: it was not looked up. */
  readonly forward: ForwardConfirmation | null;
}

/** A status, with the smallest TTL of all records that it depends on, in seconds; null: DNS gives none. */
export interface TimedStatus {
  readonly status: ResolutionStatus;
  readonly ttl: number | null;
}

/** The outcome of one lookup, without times. */
export interface Finding extends TimedStatus {
  /** In the order of the record; empty unless the status is `ok`. */
  readonly names: readonly PtrName[];
  /** Number of names in the answer, including those that are not shown. */
  readonly namesTotal: number;
  /** State of the answer with the names; null: there was no answer. */
  readonly dnssec: DnssecState | null;
  /** Outcomes of the forward lookups. */
  readonly forward: readonly TimedStatus[];
}

export interface KeepingRules {
  readonly ttlMinSeconds: number;
  readonly ttlMaxSeconds: number;
  readonly negativeTtlMaxSeconds: number;
  readonly failureTtlSeconds: number;
}

/** A finding in the form for the cache and the record. Times are Unix milliseconds. */
export interface Entry {
  readonly status: ResolutionStatus;
  readonly names: readonly PtrName[];
  readonly namesTotal: number;
  readonly dnssec: DnssecState | null;
  /** DNS answered that the name does not exist, or has no PTR record. */
  readonly negative: boolean;
  readonly storedAt: number;
  /** Equal to `storedAt` if it must not be cached. */
  readonly expiresAt: number;
}

/** Tolerated difference between the clocks of replicas. */
const clocksDifferMs = 60_000;

/** Whether the entry was stored by a clock that was ahead, of another replica or of this one before it was set back: its end is then wrong. */
export function isOfFuture({ storedAt }: Pick<Entry, "storedAt">, now: number): boolean {
  return storedAt > now + clocksDifferMs;
}

/** The entry expires with the first of its parts. */
export function makeEntry({ status, ttl, names, namesTotal, dnssec, forward }: Finding, now: number, rules: KeepingRules): Entry {
  let seconds = lifetimeSeconds(status, ttl, rules);
  for (const one of forward) seconds = Math.min(seconds, forwardLifetimeSeconds(one, rules));
  return {
    status,
    names,
    namesTotal,
    dnssec,
    negative: status === "nxdomain" || status === "nodata",
    storedAt: now,
    expiresAt: now + seconds * 1_000,
  };
}

/** Whether DNS answered, possibly that the address has no name. */
export function isAnswer({ status }: Pick<Entry, "status">): boolean {
  return status === "ok" || status === "nxdomain" || status === "nodata";
}

/** Whether part of the entry timed out. This depends on the time of the caller: the next one may wait longer. */
export function timedOut({ status, names }: Pick<Entry, "status" | "names">): boolean {
  return status === "timeout" || names.some(({ forward }) => forward?.status === "timeout");
}

/** The TTL of a negative answer: the lesser of its SOA record's TTL and minimum (RFC 2308 §5). */
export function negativeTtl(soa: { readonly ttl: number; readonly minimum: number } | null): number | null {
  return soa === null ? null : Math.min(soa.ttl, soa.minimum);
}

function lifetimeSeconds(status: ResolutionStatus, ttl: number | null, rules: KeepingRules): number {
  switch (status) {
    case "ok":
      return Math.min(Math.max(ttl ?? 0, rules.ttlMinSeconds), rules.ttlMaxSeconds);
    case "nxdomain":
    case "nodata":
      // Without an SOA record the time of the absence is unknown (RFC 2308 §5).
      return ttl === null ? 0 : Math.min(Math.max(ttl, rules.ttlMinSeconds), rules.negativeTtlMaxSeconds);
    case "servfail":
    case "refused":
      return rules.failureTtlSeconds;
    case "timeout":
      return 0;
  }
}

/** If DNS gives no TTL for a forward lookup, the names are cached nevertheless, for as long as a failure. */
function forwardLifetimeSeconds({ status, ttl }: TimedStatus, rules: KeepingRules): number {
  const isAnswer = status === "ok" || ttl !== null;
  return isAnswer ? lifetimeSeconds(status, ttl, rules) : rules.failureTtlSeconds;
}
