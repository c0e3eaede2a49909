/** Special-purpose address space: both IANA registries (RFC 6890, RFC 8190) row by row, and multicast. */

import { parsePrefix } from "./prefix.ts";
import type { Prefix } from "./types.ts";

/** One block of a registry. The longest block that holds an address describes it. */
export interface SpecialPurposeBlock {
  readonly prefix: Prefix;
  /** The registry's name for it, without quotation marks. */
  readonly name: string;
  /** The RFCs that the registry cites, as `RFC1918`, several separated by ", "; published numbers in place of drafts. */
  readonly rfc: string;
  /** Null if the registry says N/A or, for deprecated blocks and multicast, nothing. */
  readonly globallyReachable: boolean | null;
}

/**
 * Every block, IPv4 first, in the order of the registries.
 *
 * Sources: IANA IPv4 and IPv6 Special-Purpose Address Registries as of 2025-06; multicast is not in them, as its blocks differ in reach.
 */
export const specialPurposeBlocks: readonly SpecialPurposeBlock[] = [
  block("0.0.0.0/8", "This host on this network", "RFC1122", false),
  block("10.0.0.0/8", "Private-Use", "RFC1918", false),
  block("100.64.0.0/10", "Shared Address Space", "RFC6598", false),
  block("127.0.0.0/8", "Loopback", "RFC1122", false),
  block("169.254.0.0/16", "Link Local", "RFC3927", false),
  block("172.16.0.0/12", "Private-Use", "RFC1918", false),
  block("192.0.0.0/24", "IETF Protocol Assignments", "RFC6890", false),
  block("192.0.0.0/29", "IPv4 Service Continuity Prefix", "RFC7335", false),
  block("192.0.0.8/32", "IPv4 dummy address", "RFC7600", false),
  block("192.0.0.9/32", "Port Control Protocol Anycast", "RFC7723", true),
  block("192.0.0.10/32", "Traversal Using Relays around NAT Anycast", "RFC8155", true),
  block("192.0.0.170/32", "NAT64/DNS64 Discovery", "RFC7050", false),
  block("192.0.0.171/32", "NAT64/DNS64 Discovery", "RFC7050", false),
  block("192.0.2.0/24", "Documentation (TEST-NET-1)", "RFC5737", false),
  block("192.31.196.0/24", "AS112-v4", "RFC7535", true),
  block("192.52.193.0/24", "AMT", "RFC7450", true),
  block("192.88.99.0/24", "Deprecated (6to4 Relay Anycast)", "RFC7526", null),
  block("192.168.0.0/16", "Private-Use", "RFC1918", false),
  block("192.175.48.0/24", "Direct Delegation AS112 Service", "RFC7534", true),
  block("198.18.0.0/15", "Benchmarking", "RFC2544", false),
  block("198.51.100.0/24", "Documentation (TEST-NET-2)", "RFC5737", false),
  block("203.0.113.0/24", "Documentation (TEST-NET-3)", "RFC5737", false),
  block("224.0.0.0/4", "Multicast", "RFC5771", null),
  block("240.0.0.0/4", "Reserved", "RFC1112", false),
  block("255.255.255.255/32", "Limited Broadcast", "RFC8190, RFC919", false),
  block("::1/128", "Loopback Address", "RFC4291", false),
  block("::/128", "Unspecified Address", "RFC4291", false),
  block("::ffff:0:0/96", "IPv4-mapped Address", "RFC4291", false),
  block("64:ff9b::/96", "IPv4-IPv6 Translat.", "RFC6052", true),
  block("64:ff9b:1::/48", "IPv4-IPv6 Translat.", "RFC8215", false),
  block("100::/64", "Discard-Only Address Block", "RFC6666", false),
  block("100:0:0:1::/64", "Dummy IPv6 Prefix", "RFC9780", false),
  block("2001::/23", "IETF Protocol Assignments", "RFC2928", false),
  block("2001::/32", "TEREDO", "RFC4380, RFC8190", null),
  block("2001:1::1/128", "Port Control Protocol Anycast", "RFC7723", true),
  block("2001:1::2/128", "Traversal Using Relays around NAT Anycast", "RFC8155", true),
  block("2001:1::3/128", "DNS-SD Service Registration Protocol Anycast", "RFC9665", true),
  block("2001:2::/48", "Benchmarking", "RFC5180", false),
  block("2001:3::/32", "AMT", "RFC7450", true),
  block("2001:4:112::/48", "AS112-v6", "RFC7535", true),
  block("2001:10::/28", "Deprecated (previously ORCHID)", "RFC4843", null),
  block("2001:20::/28", "ORCHIDv2", "RFC7343", true),
  block("2001:30::/28", "Drone Remote ID Protocol Entity Tags (DETs) Prefix", "RFC9374", true),
  block("2001:db8::/32", "Documentation", "RFC3849", false),
  block("2002::/16", "6to4", "RFC3056", null),
  block("2620:4f:8000::/48", "Direct Delegation AS112 Service", "RFC7534", true),
  block("3fff::/20", "Documentation", "RFC9637", false),
  block("5f00::/16", "Segment Routing (SRv6) SIDs", "RFC9602", false),
  block("fc00::/7", "Unique-Local", "RFC4193, RFC8190", false),
  block("fe80::/10", "Link-Local Unicast", "RFC4291", false),
  block("ff00::/8", "Multicast", "RFC4291", null),
];

function block(text: string, name: string, rfc: string, globallyReachable: boolean | null): SpecialPurposeBlock {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new Error(`special-purpose table: ${text}`);
  return { prefix: reading.prefix, name, rfc, globallyReachable };
}
