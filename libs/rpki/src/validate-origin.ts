/** Route origin validation (RFC 6811), with the lists that explain each verdict. */

import type { Prefix } from "@netfacts/address";
import type { InvalidReason, ValidityState } from "./origin-state.ts";
import type { Vrp } from "./vrp.ts";
import type { VrpSet } from "./vrp-set.ts";

/** A verdict and every covering VRP, each in the list that says why it matched or did not. */
export interface Validity {
  state: ValidityState;
  /** Null unless invalid: "as" when a covering VRP allows the length, otherwise "length". */
  reason: InvalidReason | null;
  matched: Vrp[];
  /** The length is allowed, but the AS is another. */
  unmatchedAs: Vrp[];
  /** The length is not allowed, whatever the AS. */
  unmatchedLength: Vrp[];
}

/**
 * Validates one route against every VRP that covers its prefix, not only the most specific one.
 *
 * @param originAs  32-bit AS number; null for a path that ends in an AS_SET, which no VRP can match.
 * @returns lists in ascending (prefix, max length, AS) order; all empty exactly when the state is "not-found".
 *
 * Cost: one longest match plus one step per covering VRP; allocates only the answer. Safe to call from any thread.
 */
export function validateOrigin(vrps: VrpSet, prefix: Prefix, originAs: number | null): Validity {
  const validity: Validity = { state: "not-found", reason: null, matched: [], unmatchedAs: [], unmatchedLength: [] };
  const { matched, unmatchedAs, unmatchedLength } = validity;
  for (const vrp of vrps.covering(prefix)) {
    if (prefix.length > vrp.maxLength) unmatchedLength.push(vrp);
    // AS 0 means "nobody may announce this" (RFC 7607): it covers, and never matches.
    else if (vrp.asn === 0 || vrp.asn !== originAs) unmatchedAs.push(vrp);
    else matched.push(vrp);
  }
  if (matched.length > 0) validity.state = "valid";
  else if (unmatchedAs.length > 0 || unmatchedLength.length > 0) {
    validity.state = "invalid";
    validity.reason = unmatchedAs.length > 0 ? "as" : "length";
  }
  return validity;
}
