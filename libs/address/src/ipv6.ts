/** IPv6 text and numbers (RFC 4291 §2.2 read, RFC 5952 written). */

import { formatIpv4, readIpv4 } from "./ipv4.ts";
import type { Address } from "./types.ts";

const DOT = 0x2e;
const COLON = 0x3a;

/** Value of a hexadecimal digit by character code below 128, -1 for any other character. */
const hexValues = Int8Array.from({ length: 128 }, (_, code) => "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase()));

/** Text of a byte in lower case: as short as it can be, and with both digits. */
const shortHex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16));
const fullHex: readonly string[] = shortHex.map((text) => text.padStart(2, "0"));

/** The eight groups of the address at hand. Shared between calls: a call fills and empties it before it returns. */
const groups = new Uint16Array(8);

/**
 * Reads the characters from `start` up to, not including, `end` as an IPv6 address.
 *
 * @returns null when they are not one. Accepts what `net.isIPv6` accepts, except zone ids (`%eth0`): they name a link of one machine.
 */
export function readIpv6(text: string, start: number, end: number): Address | null {
  if (end - start < 2 || end - start > 45) return null;
  let count = 0;
  /** How many groups stand before "::", -1 without one. */
  let gap = -1;
  let group = 0;
  let digits = 0;
  let groupStart = start;
  let index = start;
  if (text.charCodeAt(start) === COLON) {
    if (text.charCodeAt(start + 1) !== COLON) return null;
    gap = 0;
    index = groupStart = start + 2;
  }
  for (; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code === COLON) {
      if (digits === 0 || count === 8) return null;
      groups[count++] = group;
      group = digits = 0;
      if (index + 1 === end) return null;
      if (text.charCodeAt(index + 1) === COLON) {
        if (gap >= 0) return null;
        gap = count;
        index++;
      }
      groupStart = index + 1;
      continue;
    }
    if (code === DOT) {
      const ipv4 = readIpv4(text, groupStart, end);
      if (ipv4 < 0 || count > 6) return null;
      groups[count++] = ipv4 >>> 16;
      groups[count++] = ipv4;
      digits = 0;
      break;
    }
    const value = code < 128 ? hexValues[code]! : -1;
    if (value < 0 || ++digits > 4) return null;
    group = (group << 4) | value;
  }
  if (digits > 0) {
    if (count === 8) return null;
    groups[count++] = group;
  }
  if (gap < 0) {
    if (count !== 8) return null;
  } else {
    // "::" stands for one group at least.
    if (count === 8) return null;
    // From the end, as source and target may overlap; by hand, as a call of copyWithin costs more than the moves.
    let target = 7;
    for (let source = count - 1; source >= gap; source--) groups[target--] = groups[source]!;
    for (; target >= gap; target--) groups[target] = 0;
  }
  return {
    version: 6,
    w0: ((groups[0]! << 16) | groups[1]!) >>> 0,
    w1: ((groups[2]! << 16) | groups[3]!) >>> 0,
    w2: ((groups[4]! << 16) | groups[5]!) >>> 0,
    w3: ((groups[6]! << 16) | groups[7]!) >>> 0,
  };
}

/**
 * Text of an IPv6 address: lower case, no leading zeros, the first longest run of two or more zero groups as "::". IPv4-mapped and
 * IPv4-compatible addresses end in dotted-quad form (RFC 5952 §5). The same text as `net.SocketAddress` gives.
 */
export function formatIpv6(w0: number, w1: number, w2: number, w3: number): string {
  groups[0] = w0 >>> 16;
  groups[1] = w0;
  groups[2] = w1 >>> 16;
  groups[3] = w1;
  groups[4] = w2 >>> 16;
  groups[5] = w2;
  groups[6] = w3 >>> 16;
  groups[7] = w3;
  let gap = -1;
  let gapLength = 1;
  for (let index = 0; index < 8; index++) {
    if (groups[index] !== 0) continue;
    let next = index + 1;
    while (next < 8 && groups[next] === 0) next++;
    if (next - index > gapLength) {
      gap = index;
      gapLength = next - index;
    }
    index = next;
  }
  if (gap === 0 && gapLength === 6) return `::${formatIpv4(w3)}`;
  if (gap === 0 && gapLength === 5 && groups[5] === 0xffff) return `::ffff:${formatIpv4(w3)}`;
  let text = "";
  for (let index = 0; index < 8; index++) {
    if (index === gap) {
      text += "::";
      index += gapLength - 1;
      continue;
    }
    if (index > 0 && index !== gap + gapLength) text += ":";
    const group = groups[index]!;
    const high = group >>> 8;
    text += high === 0 ? shortHex[group]! : shortHex[high]! + fullHex[group & 255]!;
  }
  return text;
}
