/** IPv6 text and numbers (reads RFC 4291 §2.2, writes RFC 5952). */

import { formatIpv4, readIpv4 } from "./ipv4.ts";
import type { Address } from "./types.ts";

const DOT = 0x2e;
const COLON = 0x3a;

/** Value of a hexadecimal digit by character code below 128, -1 for any other character. */
const hexValues = Int8Array.from({ length: 128 }, (_, code) => "0123456789abcdef".indexOf(String.fromCharCode(code).toLowerCase()));

/** Text of a byte in lower case: as short as possible, and with both digits. */
const shortHex: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16));
const fullHex: readonly string[] = shortHex.map((text) => text.padStart(2, "0"));

/** The eight groups of the current address. Shared between calls: a call fills and uses it before it returns. */
const groups = new Uint16Array(8);

/** Results of `scanIpv6`, which also fills `groups`. */
const invalid = 0;
const canonical = 1;
/** Well-formed, but not in the form of `formatIpv6`. */
const otherwise = 2;

/**
 * Reads the characters from `start` to `end`, exclusive, as an IPv6 address.
 *
 * @returns null when they are not one. Accepts what `net.isIPv6` accepts, except zone ids (`%eth0`): they name a link of one machine.
 */
export function readIpv6(text: string, start: number, end: number): Address | null {
  if (scanIpv6(text, start, end) === invalid) return null;
  return {
    version: 6,
    w0: ((groups[0]! << 16) | groups[1]!) >>> 0,
    w1: ((groups[2]! << 16) | groups[3]!) >>> 0,
    w2: ((groups[4]! << 16) | groups[5]!) >>> 0,
    w3: ((groups[6]! << 16) | groups[7]!) >>> 0,
  };
}

/**
 * Reads a whole text like `readIpv6`, into four words from `at` on.
 *
 * @returns the text of `formatIpv6`: the same string if it is already in that form, which is cheap to find out. null when it is not an address.
 */
export function readIpv6Words(text: string, words: Uint32Array, at: number): string | null {
  const found = scanIpv6(text, 0, text.length);
  if (found === invalid) return null;
  const w0 = (groups[0]! << 16) | groups[1]!;
  const w1 = (groups[2]! << 16) | groups[3]!;
  const w2 = (groups[4]! << 16) | groups[5]!;
  const w3 = (groups[6]! << 16) | groups[7]!;
  words[at] = w0;
  words[at + 1] = w1;
  words[at + 2] = w2;
  words[at + 3] = w3;
  return found === canonical ? text : formatIpv6(w0, w1, w2, w3);
}

/** Fills `groups`. */
function scanIpv6(text: string, start: number, end: number): typeof invalid | typeof canonical | typeof otherwise {
  if (end - start < 2 || end - start > 45) return invalid;
  let count = 0;
  /** Number of groups before "::", -1 without one. */
  let gap = -1;
  let group = 0;
  let groupStart = start;
  let index = start;
  /** Bits that all characters have in common: only capital letters lack 0x20. */
  let common = 0x20;
  let leadingZero = false;
  let dotted = false;
  if (text.charCodeAt(start) === COLON) {
    if (text.charCodeAt(start + 1) !== COLON) return invalid;
    gap = 0;
    index = groupStart = start + 2;
  }
  for (; index < end; index++) {
    const code = text.charCodeAt(index);
    const value = code < 128 ? hexValues[code]! : -1;
    if (value >= 0) {
      group = (group << 4) | value;
      common &= code;
      continue;
    }
    if (code === COLON) {
      const digits = index - groupStart;
      if (digits === 0 || digits > 4 || count === 8) return invalid;
      leadingZero ||= digits > 1 && group >>> (4 * digits - 4) === 0;
      groups[count++] = group;
      group = 0;
      if (index + 1 === end) return invalid;
      if (text.charCodeAt(index + 1) === COLON) {
        if (gap >= 0) return invalid;
        gap = count;
        index++;
      }
      groupStart = index + 1;
      continue;
    }
    if (code !== DOT) return invalid;
    const ipv4 = readIpv4(text, groupStart, end);
    if (ipv4 < 0 || count > 6) return invalid;
    groups[count++] = ipv4 >>> 16;
    groups[count++] = ipv4;
    dotted = true;
    break;
  }
  const digits = dotted ? 0 : end - groupStart;
  if (digits > 0) {
    if (digits > 4 || count === 8) return invalid;
    leadingZero ||= digits > 1 && group >>> (4 * digits - 4) === 0;
    groups[count++] = group;
  }
  const gapLength = 8 - count;
  if (gap < 0) {
    if (gapLength !== 0) return invalid;
  } else {
    // "::" stands for at least one group.
    if (gapLength === 0) return invalid;
    // From the end, as source and target may overlap; in a loop, as a call of copyWithin costs more.
    let target = 7;
    for (let source = count - 1; source >= gap; source--) groups[target--] = groups[source]!;
    for (; target >= gap; target--) groups[target] = 0;
  }
  return common === 0 || leadingZero || dotted || !isGap(gap, gapLength) ? otherwise : canonical;
}

/** Whether `formatIpv6` writes "::" for exactly these zero groups, and hexadecimal digits for all others. */
function isGap(gap: number, gapLength: number): boolean {
  // A gap of at least four groups without adjacent zero groups is the longest: the rest has no room for another.
  const end = gap + gapLength;
  if (gap > 0 && gapLength > 3) return groups[gap - 1] !== 0 && (end === 8 || groups[end] !== 0);
  const longest = longestZeros();
  if (longest === noZeros) return gap < 0;
  return longest === gap * 16 + gapLength && !endsInIpv4(gap, gapLength);
}

/** Shifted right by 4 it is -1, which is not a group. */
const noZeros = -1;

/** The first longest run of two or more zero groups as 16 × its start + its length, or `noZeros`. */
function longestZeros(): number {
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
  return gap < 0 ? noZeros : gap * 16 + gapLength;
}

/** Whether the address is IPv4-compatible or IPv4-mapped. */
function endsInIpv4(gap: number, gapLength: number): boolean {
  return gap === 0 && (gapLength === 6 || (gapLength === 5 && groups[5] === 0xffff));
}

/**
 * Text of an IPv6 address: lower case, no leading zeros, the first longest run of two or more zero groups as "::". IPv4-mapped and IPv4-compatible
 * addresses end in dotted-quad form (RFC 5952 §5). The same text as from `net.SocketAddress`.
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
  const longest = longestZeros();
  const gap = longest >> 4;
  const gapLength = longest & 15;
  if (endsInIpv4(gap, gapLength)) return gapLength === 6 ? `::${formatIpv4(w3)}` : `::ffff:${formatIpv4(w3)}`;
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
