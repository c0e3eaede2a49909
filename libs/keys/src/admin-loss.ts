/** The loss that a change of an admin key means for operators: the key itself, its time, or its use from the operator's network. */

import { containsPrefix, hostPrefix, type Prefix, parseAddress, parsePrefix, plainPrefix } from "@netfacts/address";
import type { KeyRecord } from "./key-repository.ts";

export interface AdminLoss {
  /**
   * - `key`: it no longer admits any operator
   * - `networks`: it can no longer be used from the operator's address; if that is unknown, from one of its networks
   * - `time`: it expires, or earlier than before
   */
  readonly of: "key" | "networks" | "time";
  /** Whether operators can use this key instead. */
  readonly isMadeUpBy: (other: KeyRecord) => boolean;
}

/** Whether this key admits an operator at `now`, and goes on doing so: a rotated one ends soon. */
function admitsOperators(key: KeyRecord, now: number): boolean {
  const { state, scopes, expiresAt, validUntil } = key;
  return state === "active" && scopes.includes("admin") && validUntil === null && (expiresAt === null || expiresAt > now);
}

/**
 * The greatest loss of operators by this change; null: there is none.
 *
 * @param address  of the operator who makes the change, as text; null or not an address: unknown.
 */
export function adminLoss(before: KeyRecord, after: KeyRecord, now: number, address: string | null): AdminLoss | null {
  if (!admitsOperators(before, now)) return null;
  if (!admitsOperators(after, now)) return { of: "key", isMadeUpBy: (other) => admitsOperators(other, now) };
  const endsAt = after.expiresAt !== null && (before.expiresAt === null || after.expiresAt < before.expiresAt) ? after.expiresAt : null;
  const losesNetworks = shutsOut(before.allowedCidrs, after.allowedCidrs, address);
  if (endsAt === null && !losesNetworks) return null;
  return {
    of: losesNetworks ? "networks" : "time",
    isMadeUpBy: (other) =>
      admitsOperators(other, endsAt ?? now) && !(losesNetworks && shutsOut(before.allowedCidrs, other.allowedCidrs, address)),
  };
}

/** Whether the networks `after` exclude the operator although `before` did not. */
function shutsOut(before: readonly string[], after: readonly string[], address: string | null): boolean {
  const isNarrower = after.length > 0 && !(before.length > 0 && before.every((cidr) => after.some((wide) => containsNetwork(wide, cidr))));
  if (!isNarrower) return false;
  const caller = parseAddress(address ?? "");
  return caller === null || !after.some((cidr) => contains(cidr, plainPrefix(hostPrefix(caller))));
}

function containsNetwork(wide: string, cidr: string): boolean {
  const reading = parsePrefix(cidr);
  return reading.ok && contains(wide, plainPrefix(reading.prefix));
}

function contains(cidr: string, prefix: Prefix): boolean {
  const reading = parsePrefix(cidr);
  return reading.ok && containsPrefix(plainPrefix(reading.prefix), prefix);
}
