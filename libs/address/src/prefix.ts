/** Prefixes in CIDR form (RFC 4632, RFC 4291 §2.3): text, order, containment. */

import { compareAddresses, formatAddress, readAddress } from "./address.ts";
import type { Address, Prefix } from "./types.ts";

const SLASH = 0x2f;
const ZERO = 0x30;

/**
 * The result of reading a text. "syntax": no address, no slash, or no decimal length without leading zeros within 0–32 or 0–128. "host-bits": well
 * formed, but bits past the length are set; `corrected` has them cleared.
 */
export type PrefixReading =
  | { readonly ok: true; readonly prefix: Prefix }
  | { readonly ok: false; readonly fault: "syntax" }
  | { readonly ok: false; readonly fault: "host-bits"; readonly corrected: Prefix };

const syntaxFault: PrefixReading = { ok: false, fault: "syntax" };

/** Reads `network/length`; the network like `parseAddress`. */
export function parsePrefix(text: string): PrefixReading {
  const slash = slashPosition(text);
  if (slash < 0) return syntaxFault;
  const address = readAddress(text, 0, slash);
  if (address === null) return syntaxFault;
  const length = readLength(text, slash + 1);
  if (length < 0 || length > lengthMax(address.version)) return syntaxFault;
  const prefix = prefixOf(address, length);
  if (compareAddresses(prefix, address) !== 0) return { ok: false, fault: "host-bits", corrected: prefix };
  return { ok: true, prefix };
}

/** Position of the slash before a length of one to three digits, -1 without one. Bounded, whatever the length of the text. */
function slashPosition(text: string): number {
  for (let index = text.length - 2; index >= 0 && index >= text.length - 4; index--) {
    if (text.charCodeAt(index) === SLASH) return index;
  }
  return -1;
}

function readLength(text: string, start: number): number {
  let length = 0;
  for (let index = start; index < text.length; index++) {
    const digit = text.charCodeAt(index) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    if (length === 0 && index > start) return -1;
    length = length * 10 + digit;
  }
  return length;
}

/** Bits of an address of that version: the longest prefix length. */
export function lengthMax(version: 4 | 6): number {
  return version === 4 ? 32 : 128;
}

/**
 * The prefix of the first `length` bits of the words; the other bits are cleared.
 *
 * @throws RangeError when the length is not an integer within 0–32 or 0–128.
 */
export function makePrefix(version: 4 | 6, w0: number, w1: number, w2: number, w3: number, length: number): Prefix {
  if (!(length >= 0 && length <= lengthMax(version) && Number.isInteger(length)))
    throw new RangeError(`no IPv${version} prefix length: ${length}`);
  return {
    version,
    w0: (w0 & wordMask(length)) >>> 0,
    w1: (w1 & wordMask(length - 32)) >>> 0,
    w2: (w2 & wordMask(length - 64)) >>> 0,
    w3: (w3 & wordMask(length - 96)) >>> 0,
    length,
  };
}

/** The prefix of this length that holds the address. */
export function prefixOf(address: Address, length: number): Prefix {
  return makePrefix(address.version, address.w0, address.w1, address.w2, address.w3, length);
}

/** A word with its leading `bits` set: all for 32 or more, none for 0 or less. */
function wordMask(bits: number): number {
  // Shifts count modulo 32, so both ends are handled separately.
  return bits >= 32 ? -1 : bits <= 0 ? 0 : -1 << (32 - bits);
}

/** `network/length`. */
export function formatPrefix(prefix: Prefix): string {
  return `${formatAddress(prefix)}/${prefix.length}`;
}

/** Order by version, address, length: a prefix comes before its more-specifics. Negative, 0 or positive. */
export function comparePrefixes(a: Prefix, b: Prefix): number {
  return compareAddresses(a, b) || a.length - b.length;
}

/** Whether the prefix holds the address; never across versions. */
export function containsAddress(prefix: Prefix, address: Address): boolean {
  const { length } = prefix;
  return (
    prefix.version === address.version &&
    ((prefix.w0 ^ address.w0) & wordMask(length)) === 0 &&
    ((prefix.w1 ^ address.w1) & wordMask(length - 32)) === 0 &&
    ((prefix.w2 ^ address.w2) & wordMask(length - 64)) === 0 &&
    ((prefix.w3 ^ address.w3) & wordMask(length - 96)) === 0
  );
}

/** Whether `inner` is in `outer`; also true for an equal prefix. */
export function containsPrefix(outer: Prefix, inner: Prefix): boolean {
  return inner.length >= outer.length && containsAddress(outer, inner);
}

/** The lowest address of the prefix. */
export function firstAddress(prefix: Prefix): Address {
  const { version, w0, w1, w2, w3 } = prefix;
  return { version, w0, w1, w2, w3 };
}

/** The highest address of the prefix. */
export function lastAddress(prefix: Prefix): Address {
  const { version, w0, w1, w2, w3, length } = prefix;
  if (version === 4) return { version, w0: (w0 | ~wordMask(length)) >>> 0, w1: 0, w2: 0, w3: 0 };
  return {
    version,
    w0: (w0 | ~wordMask(length)) >>> 0,
    w1: (w1 | ~wordMask(length - 32)) >>> 0,
    w2: (w2 | ~wordMask(length - 64)) >>> 0,
    w3: (w3 | ~wordMask(length - 96)) >>> 0,
  };
}

/** The address as a prefix of its whole length. */
export function hostPrefix(address: Address): Prefix {
  return { ...address, length: lengthMax(address.version) };
}
