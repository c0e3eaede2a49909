/** What a resolver says about the validation of an answer (RFC 4035 §4.3). */

/**
 * `secure`: validated. `insecure`: from a resolver that validates, and not validated, so nothing signs it. `indeterminate`: from a resolver
 * that is not known to validate. `bogus`: it fails validation, so it is not shown.
 */
export type DnssecState = "secure" | "insecure" | "indeterminate" | "bogus";

/** From the strongest to the weakest. */
const order: readonly DnssecState[] = ["secure", "insecure", "indeterminate", "bogus"];

/** Of two answers that only lead to an end together. */
export function weakestState(a: DnssecState, b: DnssecState): DnssecState {
  if (a === b) return a;
  return order.indexOf(a) > order.indexOf(b) ? a : b;
}
