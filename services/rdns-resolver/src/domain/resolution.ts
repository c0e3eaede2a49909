/** What a resolution found, and for how long it may be kept (RFC 2308, RFC 2181 §8, RFC 9520). */

import type { ForwardConfirmation } from "@netfacts/contracts";
import type { DnssecState } from "./dnssec.ts";

export type ResolutionStatus = "ok" | "nxdomain" | "nodata" | "servfail" | "refused" | "timeout";

export interface PtrName {
  /** As received, escaped as in RFC 1035 §5.1, without the dot at its end. */
  readonly name: string;
  readonly ttl: number;
  /** Null where it was not looked up. */
  readonly forward: ForwardConfirmation | null;
}

/** A status with the smallest TTL of everything that it rests on, in seconds; null where DNS gives none. */
export interface TimedStatus {
  readonly status: ResolutionStatus;
  readonly ttl: number | null;
}

/** The outcome of one lookup, before it is timed. */
export interface Finding extends TimedStatus {
  /** In the order in which they are shown; empty unless the status is `ok`. */
  readonly names: readonly PtrName[];
  /** Names of the answer, shown or not. */
  readonly namesTotal: number;
  /** Of the answer about the names; null where nothing was answered. */
  readonly dnssec: DnssecState | null;
  /** The forward lookups that were made. */
  readonly forward: readonly TimedStatus[];
}

export interface KeepingRules {
  readonly ttlMinSeconds: number;
  readonly ttlMaxSeconds: number;
  readonly negativeTtlMaxSeconds: number;
  readonly failureTtlSeconds: number;
}

/** A finding as it is kept and shown. Times are Unix milliseconds. */
export interface Entry {
  readonly status: ResolutionStatus;
  readonly names: readonly PtrName[];
  readonly namesTotal: number;
  readonly dnssec: DnssecState | null;
  /** Nobody has the name, or it has no PTR record: an answer about absence. */
  readonly negative: boolean;
  readonly storedAt: number;
  /** Equal to `storedAt` where it may not be kept. */
  readonly expiresAt: number;
}

/** Clocks of replicas differ. */
const clocksDifferMs = 60_000;

/** It was stored by a clock that was ahead, of another replica or of this one before it was set back: its end says nothing. */
export function isOfFuture({ storedAt }: Pick<Entry, "storedAt">, now: number): boolean {
  return storedAt > now + clocksDifferMs;
}

/** The first part that expires ends it all. */
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

/** DNS said something about the address, be it that it has no name. */
export function isAnswer({ status }: Pick<Entry, "status">): boolean {
  return status === "ok" || status === "nxdomain" || status === "nodata";
}

/** A timeout depends on how long the asker could wait: the next one may wait longer. */
export function timedOut({ status, names }: Pick<Entry, "status" | "names">): boolean {
  return status === "timeout" || names.some(({ forward }) => forward?.status === "timeout");
}

/** The TTL of a negative answer: that of its SOA record and what the record says, whichever is less (RFC 2308 §5). */
export function negativeTtl(soa: { readonly ttl: number; readonly minimum: number } | null): number | null {
  return soa === null ? null : Math.min(soa.ttl, soa.minimum);
}

function lifetimeSeconds(status: ResolutionStatus, ttl: number | null, rules: KeepingRules): number {
  switch (status) {
    case "ok":
      return Math.min(Math.max(ttl ?? 0, rules.ttlMinSeconds), rules.ttlMaxSeconds);
    case "nxdomain":
    case "nodata":
      // Without an SOA record nobody says for how long the name is absent (RFC 2308 §5).
      return ttl === null ? 0 : Math.min(Math.max(ttl, rules.ttlMinSeconds), rules.negativeTtlMaxSeconds);
    case "servfail":
    case "refused":
      return rules.failureTtlSeconds;
    case "timeout":
      return 0;
  }
}

/** Where DNS gives no time for it, the names are kept nevertheless, for as long as a failure. */
function forwardLifetimeSeconds({ status, ttl }: TimedStatus, rules: KeepingRules): number {
  const isAnswer = status === "ok" || ttl !== null;
  return isAnswer ? lifetimeSeconds(status, ttl, rules) : rules.failureTtlSeconds;
}
