/** Where a request comes from: the address as rules see it, and the block that it stands for. */

import { type Address, parseAddress } from "@netfacts/address";

/** IPv4-mapped IPv6 (`::ffff:198.51.100.7`, what a dual-stack socket tells) is IPv4. Null for text that is no address. */
export function clientAddressOf(text: string): Address | null {
  const address = parseAddress(text);
  if (address === null || address.version === 4) return address;
  const { w0, w1, w2, w3 } = address;
  return w0 === 0 && w1 === 0 && w2 === 0xffff ? { version: 4, w0: w3, w1: 0, w2: 0, w3: 0 } : address;
}

/** The IPv4 /32 or IPv6 /64 of an address, as text: one customer's worth of addresses. Unknown addresses share one source. */
export function sourceOf(address: Address | null): string {
  if (address === null) return "unknown";
  return address.version === 4 ? `4:${address.w0}` : `6:${address.w0}:${address.w1}`;
}
