/** Addresses of either version: text, order, successor. */

import { formatIpv4, readIpv4 } from "./ipv4.ts";
import { formatIpv6, readIpv6 } from "./ipv6.ts";
import type { Address } from "./types.ts";

/**
 * Reads a whole text as an address of either version.
 *
 * @returns null when it is not one. Accepts exactly what `net.isIP` accepts, minus zone ids; allocates only the answer.
 */
export function parseAddress(text: string): Address | null {
  return readAddress(text, 0, text.length);
}

/** `parseAddress` of the characters from `start` to `end`, exclusive. */
export function readAddress(text: string, start: number, end: number): Address | null {
  // No text is both, and an IPv6 text differs from an IPv4 address within five characters.
  const value = readIpv4(text, start, end);
  return value < 0 ? readIpv6(text, start, end) : ipv4Address(value);
}

/** The address of an unsigned 32-bit number. */
export function ipv4Address(value: number): Address {
  return { version: 4, w0: value, w1: 0, w2: 0, w3: 0 };
}

/** RFC 5952 text, dotted-quad for IPv4. */
export function formatAddress(address: Address): string {
  return address.version === 4 ? formatIpv4(address.w0) : formatIpv6(address.w0, address.w1, address.w2, address.w3);
}

/** Order by version, then number: negative, 0 or positive. */
export function compareAddresses(a: Address, b: Address): number {
  return a.version - b.version || a.w0 - b.w0 || a.w1 - b.w1 || a.w2 - b.w2 || a.w3 - b.w3;
}

/** The next address; null after the last one of its version. */
export function nextAddress(address: Address): Address | null {
  let { version, w0, w1, w2, w3 } = address;
  if (version === 4) return w0 === 0xffff_ffff ? null : ipv4Address(w0 + 1);
  w3 = (w3 + 1) >>> 0;
  if (w3 === 0) w2 = (w2 + 1) >>> 0;
  if (w3 === 0 && w2 === 0) w1 = (w1 + 1) >>> 0;
  if (w3 === 0 && w2 === 0 && w1 === 0) w0 = (w0 + 1) >>> 0;
  return w3 === 0 && w2 === 0 && w1 === 0 && w0 === 0 ? null : { version, w0, w1, w2, w3 };
}
