/** IPv4 addresses inside IPv6 addresses: mapped, translated and tunnelled. */

import { ipv4Address } from "./address.ts";
import { makePrefix } from "./prefix.ts";
import type { Address, Prefix } from "./types.ts";

/**
 * The IPv4 address inside an IPv6 address: IPv4-mapped (RFC 4291 §2.5.5.2), 6to4 (RFC 3056), the client of Teredo (RFC 4380 §4) and the well-known
 * NAT64 prefix 64:ff9b::/96 (RFC 6052). Null for every other address: in local NAT64 prefixes (RFC 8215) its place is not known.
 */
export function embeddedIpv4(address: Address): Address | null {
  const { version, w0, w1, w2, w3 } = address;
  if (version === 4) return null;
  if (w0 === 0 && w1 === 0 && w2 === 0xffff) return ipv4Address(w3);
  if (w0 === 0x0064_ff9b && w1 === 0 && w2 === 0) return ipv4Address(w3);
  if (w0 >>> 16 === 0x2002) return ipv4Address(((w0 << 16) | (w1 >>> 16)) >>> 0);
  // Teredo writes the client's address inverted, so that translators on the way do not change it.
  if (w0 === 0x2001_0000) return ipv4Address(~w3 >>> 0);
  return null;
}

/** The IPv4 prefix that an IPv4-mapped one (`::ffff:198.51.100.0/120`, RFC 4291 §2.5.5.2) represents; any other prefix unchanged. */
export function plainPrefix(prefix: Prefix): Prefix {
  const { version, w0, w1, w2, w3, length } = prefix;
  const isMapped = version === 6 && length >= 96 && w0 === 0 && w1 === 0 && w2 === 0xffff;
  return isMapped ? makePrefix(4, w3, 0, 0, 0, length - 96) : prefix;
}
