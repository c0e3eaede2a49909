/** States of an answer by DNSSEC validation at the resolver (RFC 4035 §4.3). */

/**
 * `secure`: validated. `insecure`: not validated by a resolver that validates, so it is not signed. `indeterminate`: from a resolver that is
 * not known to validate. `bogus`: it fails validation, so it is not shown.
 */
export type DnssecState = "secure" | "insecure" | "indeterminate" | "bogus";

/** From the strongest to the weakest. */
const order: readonly DnssecState[] = ["secure", "insecure", "indeterminate", "bogus"];

/** The state of two answers that are both part of a result. */
export function weakestState(a: DnssecState, b: DnssecState): DnssecState {
  if (a === b) return a;
  return order.indexOf(a) > order.indexOf(b) ? a : b;
}
