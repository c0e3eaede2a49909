/** Where a request comes from: the address as rules see it, and the block that it stands for. */

import { type Address, embeddedIpv4, parseAddress } from "@netfacts/address";

/**
 * Reads an address; an IPv4-mapped one (`::ffff:198.51.100.7`, as dual-stack sockets report it) is IPv4. The zone of a link-local one
 * (`fe80::1%eth0`, as sockets report it) names an interface of ours, and is left out. Null for any other text.
 */
export function plainAddress(text: string): Address | null {
  const address = parseAddress(text.replace(/^(fe80:.*)%[\w.-]+$/i, "$1"));
  if (address === null || address.version === 4) return address;
  const isMapped = address.w0 === 0 && address.w1 === 0 && address.w2 === 0xffff;
  return isMapped ? embeddedIpv4(address) : address;
}

/** The IPv4 /32 or IPv6 /64 of an address, as text: one customer's worth of addresses. Unknown addresses share one source. */
export function sourceOf(address: Address | null): string {
  if (address === null) return "unknown";
  return address.version === 4 ? `4:${address.w0}` : `6:${address.w0}:${address.w1}`;
}
