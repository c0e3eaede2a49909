/** The address of the client: the peer's, or behind trusted proxies the one that they tell. */

import { embeddedIpv4, formatAddress, parseAddress } from "@netfacts/address";

/**
 * @param told  what the trusted proxies tell; arbitrary text where they pass on what a client made up.
 * @param peer  the other end of the socket.
 * @returns RFC 5952 text; IPv4-mapped addresses, as dual-stack sockets give them, as IPv4.
 */
export function clientAddress(told: string, peer: string): string {
  const address = parseAddress(told) ?? parseAddress(peer);
  if (address === null) return peer;
  const isMapped = address.version === 6 && address.w0 === 0 && address.w1 === 0 && address.w2 === 0xffff;
  return formatAddress((isMapped ? embeddedIpv4(address) : null) ?? address);
}
