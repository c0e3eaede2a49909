/** IPv4 text and numbers: strict dotted-quad form, four decimal octets without leading zeros. */

const DOT = 0x2e;
const ZERO = 0x30;

/** Text of every octet, so that writing an address only joins strings. */
const octetText: readonly string[] = Array.from({ length: 256 }, (_, octet) => String(octet));

/**
 * Reads a whole text as an IPv4 address.
 *
 * @returns the address as an unsigned 32-bit number, -1 when the text is not one. Accepts what `net.isIPv4` accepts. Allocates nothing.
 */
export function parseIpv4(text: string): number {
  return readIpv4(text, 0, text.length);
}

/** `parseIpv4` of the characters from `start` to `end`, exclusive. */
export function readIpv4(text: string, start: number, end: number): number {
  if (end - start < 7 || end - start > 15) return -1;
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let index = start; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code === DOT) {
      if (octet < 0 || dots === 3) return -1;
      value = (value << 8) | octet;
      octet = -1;
      dots++;
      continue;
    }
    const digit = code - ZERO;
    if (digit < 0 || digit > 9) return -1;
    if (octet < 0) octet = digit;
    // A second digit after 0 means a leading zero: some readers take it for octal, so it is not accepted.
    else if (octet === 0) return -1;
    else {
      octet = octet * 10 + digit;
      if (octet > 255) return -1;
    }
  }
  return dots === 3 && octet >= 0 ? ((value << 8) | octet) >>> 0 : -1;
}

/** Dotted-quad text of a 32-bit number, signed or unsigned. */
export function formatIpv4(value: number): string {
  return `${octetText[value >>> 24]}.${octetText[(value >>> 16) & 255]}.${octetText[(value >>> 8) & 255]}.${octetText[value & 255]}`;
}
