/** Names of addresses in the reverse DNS (RFC 1035 §3.5, RFC 3596 §2.5). */

import type { Address } from "./types.ts";

/** The name that has the PTR records of the address, lower case, without the final dot. */
export function reverseName(address: Address): string {
  const { version, w0, w1, w2, w3 } = address;
  if (version === 4) return `${w0 & 255}.${(w0 >>> 8) & 255}.${(w0 >>> 16) & 255}.${w0 >>> 24}.in-addr.arpa`;
  return `${nibbles(w3)}${nibbles(w2)}${nibbles(w1)}${nibbles(w0)}ip6.arpa`;
}

/** The eight hexadecimal digits of a word, last first, each followed by a dot. */
function nibbles(word: number): string {
  let text = "";
  for (let shift = 0; shift < 32; shift += 4) text += `${((word >>> shift) & 15).toString(16)}.`;
  return text;
}
