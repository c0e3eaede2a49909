/** The address of a client in the form for rules, and the block that it counts for. */

import { type Address, embeddedIpv4, parseAddress } from "@netfacts/address";

/**
 * Reads an address as sockets report it. An IPv4-mapped address of a dual-stack socket (`::ffff:198.51.100.7`) becomes IPv4. The zone of a
 * link-local address (`fe80::1%eth0`) names an interface of this host, and is removed. Null for any other text.
 */
export function plainAddress(text: string): Address | null {
  const address = parseAddress(text.replace(/^(fe80:.*)%[\w.-]+$/i, "$1"));
  if (address === null || address.version === 4) return address;
  const isMapped = address.w0 === 0 && address.w1 === 0 && address.w2 === 0xffff;
  return isMapped ? embeddedIpv4(address) : address;
}

/** The IPv4 /32 or IPv6 /64 of an address, as text: usually the addresses of one customer. Unknown addresses share one source. */
export function sourceOf(address: Address | null): string {
  if (address === null) return "unknown";
  return address.version === 4 ? `4:${address.w0}` : `6:${address.w0}:${address.w1}`;
}
