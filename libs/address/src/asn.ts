/** AS numbers: their text in all three notations (RFC 5396), and special-purpose numbers. */

const ZERO = 0x30;
const ASN_MAX = 0xffff_ffff;

/**
 * Reads an AS number in asplain (`3333`, `65546`), asdot (`1.10`) or asdot+ (`0.3333`), bare or after `AS` in either case.
 *
 * Strict otherwise, so that a text has one meaning: ASCII digits only, no sign, no space, no leading zero (`03333`, `1.010`), nothing above
 * 4294967295 or, in the dotted forms, above 65535 on a side.
 *
 * @returns null when the text is none of these.
 */
export function parseAsn(text: string): number | null {
  const start = hasAsMark(text) ? 2 : 0;
  const dot = text.indexOf(".", start);
  if (dot < 0) return decimal(text, start, text.length, ASN_MAX);
  const high = decimal(text, start, dot, 0xffff);
  const low = decimal(text, dot + 1, text.length, 0xffff);
  return high === null || low === null ? null : high * 65_536 + low;
}

/** Whether the text starts with "AS" in either case. */
function hasAsMark(text: string): boolean {
  return (text.charCodeAt(0) | 0x20) === 0x61 && (text.charCodeAt(1) | 0x20) === 0x73;
}

/** The decimal number of a part of a text; null when it is not one or above `max`. */
function decimal(text: string, start: number, end: number, max: number): number | null {
  const digits = end - start;
  if (digits < 1 || digits > 10 || (digits > 1 && text.charCodeAt(start) === ZERO)) return null;
  let value = 0;
  for (let index = start; index < end; index++) {
    const digit = text.charCodeAt(index) - ZERO;
    if (digit < 0 || digit > 9) return null;
    value = value * 10 + digit;
  }
  return value <= max ? value : null;
}

/** asdot text (RFC 5396 §2): 16-bit numbers plain, larger ones as two halves: `3333`, `1.10`. */
export function formatAsdot(asn: number): string {
  return asn < 65_536 ? String(asn) : `${asn >>> 16}.${asn & 0xffff}`;
}

/** The special purpose of an AS number, and its RFC. */
export interface SpecialPurposeAsn {
  readonly name: string;
  readonly rfc: string;
  /** Its RFC allows it to originate prefixes in the public Internet. */
  readonly originates: boolean;
}

interface AsnBlock {
  readonly first: number;
  readonly last: number;
  readonly purpose: SpecialPurposeAsn;
}

/** The IANA registry of special-purpose AS numbers (RFC 7249), ascending, without overlap. */
const asnBlocks: readonly AsnBlock[] = [
  asnBlock(0, 0, "Reserved", "RFC7607"),
  asnBlock(112, 112, "AS112 Project", "RFC7534", true),
  asnBlock(23_456, 23_456, "AS_TRANS", "RFC6793"),
  asnBlock(64_496, 64_511, "Documentation", "RFC5398"),
  asnBlock(64_512, 65_534, "Private Use", "RFC6996"),
  asnBlock(65_535, 65_535, "Last 16-bit AS Number", "RFC7300"),
  asnBlock(65_536, 65_551, "Documentation", "RFC5398"),
  asnBlock(4_200_000_000, 4_294_967_294, "Private Use", "RFC6996"),
  asnBlock(4_294_967_295, 4_294_967_295, "Last 32-bit AS Number", "RFC7300"),
];

function asnBlock(first: number, last: number, name: string, rfc: string, originates = false): AsnBlock {
  return { first, last, purpose: { name, rfc, originates } };
}

/** The purpose of a special-purpose AS number, null for every other. */
export function specialPurposeAsn(asn: number): SpecialPurposeAsn | null {
  for (const block of asnBlocks) {
    if (asn >= block.first && asn <= block.last) return block.purpose;
  }
  return null;
}
