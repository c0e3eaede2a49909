/** Address ranges as the fewest prefixes that cover them exactly. */

import { compareAddresses, formatAddress, nextAddress } from "./address.ts";
import { lastAddress, lengthMax, makePrefix, prefixOf } from "./prefix.ts";
import type { Address, Prefix } from "./types.ts";

/**
 * The minimal prefixes of an inclusive range, ascending.
 *
 * @throws RangeError when the ends are of two versions or `end` is below `start`.
 *
 * Cost: a few steps per prefix of the answer; at most 62 prefixes for IPv4 and 254 for IPv6.
 */
export function rangeToPrefixes(start: Address, end: Address): Prefix[] {
  if (start.version !== end.version || compareAddresses(start, end) > 0) {
    throw new RangeError(`no address range: ${formatAddress(start)} - ${formatAddress(end)}`);
  }
  return start.version === 4 ? ipv4Prefixes(start.w0, end.w0) : anyPrefixes(start, end);
}

function ipv4Prefixes(start: number, end: number): Prefix[] {
  const prefixes: Prefix[] = [];
  // Plain numbers hold 2^32, so the step past 255.255.255.255 ends the loop instead of wrapping.
  for (let first = start; first <= end; ) {
    const bits = Math.min(trailingZeros(first), Math.floor(Math.log2(end - first + 1)));
    prefixes.push(makePrefix(4, first, 0, 0, 0, 32 - bits));
    first += 2 ** bits;
  }
  return prefixes;
}

function anyPrefixes(start: Address, end: Address): Prefix[] {
  const prefixes: Prefix[] = [];
  for (let first: Address | null = start; first !== null && compareAddresses(first, end) <= 0; ) {
    let length = lengthMax(first.version) - alignment(first);
    while (compareAddresses(lastAddress(prefixOf(first, length)), end) > 0) length++;
    const prefix = prefixOf(first, length);
    prefixes.push(prefix);
    first = nextAddress(lastAddress(prefix));
  }
  return prefixes;
}

/** Number of trailing zero bits of an IPv6 address, 0–128. */
function alignment({ w0, w1, w2, w3 }: Address): number {
  if (w3 !== 0) return trailingZeros(w3);
  if (w2 !== 0) return 32 + trailingZeros(w2);
  if (w1 !== 0) return 64 + trailingZeros(w1);
  return 96 + trailingZeros(w0);
}

/** Number of trailing zero bits of a word, 0–32. */
function trailingZeros(word: number): number {
  return word === 0 ? 32 : 31 - Math.clz32(word & -word);
}
