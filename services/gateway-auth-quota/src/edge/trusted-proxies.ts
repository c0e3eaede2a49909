/** The address of the client: the peer's, or, if the peer is a trusted proxy, the one that the proxies report. */

import type { IncomingHttpHeaders } from "node:http";
import {
  type Address,
  containsAddress,
  formatAddress,
  hostPrefix,
  type Prefix,
  parseAddress,
  parsePrefix,
  plainPrefix,
} from "@netfacts/address";
import { plainAddress } from "../domain/client-address.ts";

/** The header that the trusted proxies write. The other one is never read: a proxy passes on whatever a client wrote in it. */
export type ForwardingHeader = "x-forwarded-for" | "forwarded";

export interface ProxyTrust {
  readonly proxies: readonly Prefix[];
  readonly header: ForwardingHeader;
}

/** Addresses and CIDRs as prefixes. @throws RangeError for a text that is neither. */
export function proxyTrust(texts: readonly string[], header: ForwardingHeader): ProxyTrust {
  const proxies = texts.map((text) => {
    const address = parseAddress(text);
    if (address !== null) return plainPrefix(hostPrefix(address));
    const reading = parsePrefix(text);
    if (reading.ok) return plainPrefix(reading.prefix);
    throw new RangeError(`${text} is not an address or a CIDR`);
  });
  return { proxies, header };
}

/** Whether this peer is a trusted proxy. */
export function isTrustedPeer(peer: string, { proxies }: ProxyTrust): boolean {
  const address = plainAddress(peer);
  return address !== null && isTrusted(proxies, address);
}

/**
 * Reads the chain of proxies from its end, which is nearest to us. Each trusted proxy names the address before it. The first address that is
 * not trusted is the client. The entries before that come from the client and are ignored.
 *
 * @param peer  address of the other end of the socket.
 * @returns RFC 5952 text; IPv4-mapped addresses, which dual-stack sockets report, as IPv4. If a trusted proxy names no address (`unknown`,
 *   an obfuscated name): the address of that proxy.
 */
export function clientAddress(headers: IncomingHttpHeaders, peer: string, { proxies, header }: ProxyTrust): string {
  let address = plainAddress(peer);
  if (address === null) return peer;
  const value = headers[header];
  if (value !== undefined && proxies.length > 0) {
    const chain = header === "forwarded" ? forwardedChain(String(value)) : String(value).split(",");
    for (let at = chain.length - 1; at >= 0 && isTrusted(proxies, address); at--) {
      const before = plainAddress(nodeAddress(chain[at] ?? ""));
      if (before === null) break;
      address = before;
    }
  }
  return formatAddress(address);
}

/** Whether a peer reports a client address that is ignored, because the peer is not a trusted proxy. */
export function isForwardingIgnored(headers: IncomingHttpHeaders, peer: string, { proxies, header }: ProxyTrust): boolean {
  if (headers[header] === undefined) return false;
  const address = plainAddress(peer);
  return address === null || !isTrusted(proxies, address);
}

function isTrusted(proxies: readonly Prefix[], address: Address): boolean {
  return proxies.some((proxy) => proxy.version === address.version && containsAddress(proxy, address));
}

/** The address in a node of a proxy's header, which may have a port, and brackets around IPv6. */
function nodeAddress(text: string): string {
  const node = text.trim();
  const bracketed = /^\[([^\]]*)\](?::[\w.-]+)?$/.exec(node);
  if (bracketed !== null) return bracketed[1] ?? "";
  return /^([\d.]+):[\w.-]+$/.exec(node)?.[1] ?? node;
}

/** The `for` of each element of `Forwarded` (RFC 7239 §4); empty if it has none. */
function forwardedChain(text: string): string[] {
  return splitFromEnd(text, ",").map((element) => {
    const node = splitFromEnd(element, ";")
      .map((pair) => forPair.exec(pair))
      .find((match) => match !== null);
    return node?.[1]?.replaceAll(/\\(.)/g, "$1") ?? node?.[2] ?? "";
  });
}

const forPair = /^\s*for\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"]+))\s*$/i;

/**
 * Splits at a separator outside quoted strings, beginning at the end: so a quote that a client left open does not change what proxies wrote
 * after it. Cost: one pass over any text.
 */
function splitFromEnd(text: string, separator: "," | ";"): string[] {
  const parts: string[] = [];
  let end = text.length;
  let quoted = false;
  for (let at = end - 1; at >= 0; at--) {
    const char = text[at];
    if (char === '"') {
      let escapes = 0;
      while (text[at - 1 - escapes] === "\\") escapes += 1;
      if (escapes % 2 === 0) quoted = !quoted;
      at -= escapes;
    } else if (char === separator && !quoted) {
      parts.push(text.slice(at + 1, end));
      end = at;
    }
  }
  parts.push(text.slice(0, end));
  return parts.reverse();
}
