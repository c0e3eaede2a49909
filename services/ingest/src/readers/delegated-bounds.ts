/** Bounds of a record of a registry: a single absurd record would otherwise win over thousands of good ones. */

import type { Address } from "@netfacts/address";

/** IANA delegates IPv4 by /8, and no known record is longer. A /7 allows for two that were joined. */
const ipv4AddressesMax = 2 ** 25;
/** IANA delegates at most a /12 of IPv6 at a time; the longest known record is a /13. */
const ipv6LengthMin = 11;
/** IANA delegates 1,024 AS numbers at a time; the longest known record has 3,072. */
const asnsMax = 2 ** 16;

/**
 * Why a registry cannot hold the range; null: it can. Do not use it for IANA's own records in the combined file: they list space that no registry
 * has.
 */
export function ipv4Excess(start: Address, end: Address): string | null {
  const [first, last] = [start.w0 >>> 24, end.w0 >>> 24];
  const isUnicast = first >= 1 && last < 224 && ![10, 127].some((reserved) => first <= reserved && reserved <= last);
  if (!isUnicast) return "IPv4 addresses that no registry has (0/8, 10/8, 127/8 or 224/3)";
  return end.w0 - start.w0 >= ipv4AddressesMax ? "more IPv4 addresses than a /7, which no record of a registry has" : null;
}

/** As `ipv4Excess`. Outside 2000::/3 IANA has delegated nothing. */
export function ipv6Excess(start: Address, length: number): string | null {
  if (start.w0 >>> 29 !== 1 || length < 3) return "IPv6 addresses that no registry has (outside 2000::/3)";
  return length < ipv6LengthMin ? "more IPv6 addresses than a /11, which no record of a registry has" : null;
}

/** As `ipv4Excess`. */
export function asnExcess(count: number): string | null {
  return count > asnsMax ? `more than ${asnsMax} AS numbers, which no record of a registry has` : null;
}
