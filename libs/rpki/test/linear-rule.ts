/** The oracle: RFC 6811 read aloud, over strings of 0 and 1, looking at every VRP for every route. */

import type { Prefix } from "@netfacts/address";
import type { Validity, Vrp } from "../src/index.ts";

/** The leading bits of a prefix, behind its version. */
export function bitsOf({ version, w0, w1, w2, w3, length }: Prefix): string {
  const words = version === 4 ? [w0] : [w0, w1, w2, w3];
  const bits = words.map((word) => word.toString(2).padStart(32, "0")).join("");
  return `${version}:${bits.slice(0, length)}`;
}

export const covers = (outer: Prefix, inner: Prefix): boolean => bitsOf(inner).startsWith(bitsOf(outer));

/** Ascending by (prefix, max length, AS): a string of bits sorts as its prefix does. */
export function inOrder(vrps: readonly Vrp[]): Vrp[] {
  return vrps.toSorted((a, b) => {
    const [left, right] = [bitsOf(a.prefix), bitsOf(b.prefix)];
    if (left === right) return a.maxLength - b.maxLength || a.asn - b.asn;
    // Padded by zeros the shorter of two equal addresses comes first.
    const [leftAddress, rightAddress] = [left.padEnd(130, "0"), right.padEnd(130, "0")];
    if (leftAddress === rightAddress) return left.length - right.length;
    return leftAddress < rightAddress ? -1 : 1;
  });
}

export function linearRule(vrps: readonly Vrp[], prefix: Prefix, originAs: number | null): Validity {
  const covering = inOrder(vrps.filter((vrp) => covers(vrp.prefix, prefix)));
  const long = covering.filter((vrp) => prefix.length <= vrp.maxLength);
  const isMatch = (vrp: Vrp) => vrp.asn === originAs && vrp.asn !== 0;
  const matched = long.filter(isMatch);
  const unmatchedAs = long.filter((vrp) => !isMatch(vrp));
  const unmatchedLength = covering.filter((vrp) => prefix.length > vrp.maxLength);
  const state = covering.length === 0 ? "not-found" : matched.length > 0 ? "valid" : "invalid";
  const reason = state !== "invalid" ? null : unmatchedAs.length > 0 ? "as" : "length";
  return { state, reason, matched, unmatchedAs, unmatchedLength };
}
