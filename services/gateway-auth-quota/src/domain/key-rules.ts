/** Rules for the use of a key whose secret matched: state, time, address and scope (docs/design/protocols.md#keys). */

import { type Address, containsAddress, type Prefix } from "@netfacts/address";
import type { Scope } from "@netfacts/contracts";
import type { KeyState } from "@netfacts/keys";

export interface RuledKey {
  readonly state: KeyState;
  readonly expiresAt: number | null;
  /** End of a rotated key, Unix ms. */
  readonly validUntil: number | null;
  readonly allowed: readonly Prefix[];
  readonly scopes: ReadonlySet<Scope>;
}

export type KeyRefusal = "revoked_api_key" | "disabled_api_key" | "expired_api_key" | "ip_not_allowed" | "insufficient_scope";

/**
 * The first rule that refuses, in the order state, address, scope; null when none does.
 *
 * @param now    Unix ms; a key is expired from its `expiresAt` on.
 * @param scope  null = the route requires none.
 */
export function keyRefusal(key: RuledKey, now: number, address: Address | null, scope: Scope | null): KeyRefusal | null {
  if (key.state === "revoked") return "revoked_api_key";
  // Includes states that this program does not know.
  if (key.state !== "active") return "disabled_api_key";
  if (isPast(key.expiresAt, now) || isPast(key.validUntil, now)) return "expired_api_key";
  if (key.allowed.length > 0 && !isAllowed(key.allowed, address)) return "ip_not_allowed";
  if (scope !== null && !key.scopes.has(scope)) return "insufficient_scope";
  return null;
}

/** True for NaN too. */
function isPast(time: number | null, now: number): boolean {
  return time !== null && !(now < time);
}

function isAllowed(allowed: readonly Prefix[], address: Address | null): boolean {
  return address !== null && allowed.some((prefix) => containsAddress(prefix, address));
}
