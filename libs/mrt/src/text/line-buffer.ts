/** Lines of text as bytes: a string for each number and address would cost more than the decoding. */

import { type Address, formatIpv4 } from "@netfacts/address";

const initialBytes = 1 << 16;
const zero = 0x30;
const colon = 0x3a;
const hexDigits = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
/** The longest text that is written after one check of the space: a number or an IPv6 address. */
const shortBytesMax = 48;

export class LineBuffer {
  #bytes: Uint8Array<ArrayBuffer>;
  #length = 0;

  /** @param bytes  initial capacity; it grows. */
  constructor(bytes = initialBytes) {
    this.#bytes = new Uint8Array(bytes);
  }

  get length(): number {
    return this.#length;
  }

  /** Returns a copy of what was written since the last call. */
  take(): Uint8Array {
    const taken = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    return taken;
  }

  /** ASCII only. */
  text(text: string): void {
    this.#room(text.length);
    for (let index = 0; index < text.length; index++) this.#bytes[this.#length++] = text.charCodeAt(index);
  }

  bytes(bytes: Uint8Array): void {
    this.#room(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  /** One character by its code. */
  char(code: number): void {
    if (this.#length === this.#bytes.length) this.#room(1);
    this.#bytes[this.#length++] = code;
  }

  /** An unsigned integer of 32 bits, in decimal. */
  number(value: number): void {
    this.#room(shortBytesMax);
    this.#digits(value);
  }

  /**
   * An address in the form of bgpdump. Unlike RFC 5952, a single zero group becomes `::`, and an address of ::/96 other than `::` and `::1` ends in
   * dotted form. As in RFC 5952, the longest run of zeros is shortened, and the first one of equal runs.
   */
  address({ version, w0, w1, w2, w3 }: Address): void {
    this.#room(shortBytesMax);
    if (version === 4) this.#ipv4(w0);
    else if (w0 === 0 && w1 === 0 && w2 === 0xffff) this.text(`::ffff:${formatIpv4(w3)}`);
    else if (w0 === 0 && w1 === 0 && w2 === 0 && w3 > 1) this.text(`::${formatIpv4(w3)}`);
    else this.#ipv6([w0 >>> 16, w0 & 0xffff, w1 >>> 16, w1 & 0xffff, w2 >>> 16, w2 & 0xffff, w3 >>> 16, w3 & 0xffff]);
  }

  #ipv4(value: number): void {
    this.#digits(value >>> 24);
    this.#bytes[this.#length++] = 0x2e;
    this.#digits((value >>> 16) & 0xff);
    this.#bytes[this.#length++] = 0x2e;
    this.#digits((value >>> 8) & 0xff);
    this.#bytes[this.#length++] = 0x2e;
    this.#digits(value & 0xff);
  }

  #ipv6(groups: readonly number[]): void {
    let gap = -1;
    let gapLength = 0;
    for (let index = 0; index < 8; ) {
      let next = index;
      while (next < 8 && groups[next] === 0) next++;
      if (next - index > gapLength) {
        gap = index;
        gapLength = next - index;
      }
      index = next + 1;
    }
    for (let index = 0; index < 8; index++) {
      if (index === gap) {
        this.#bytes[this.#length++] = colon;
        this.#bytes[this.#length++] = colon;
        index += gapLength - 1;
      } else {
        if (index > 0 && index !== gap + gapLength) this.#bytes[this.#length++] = colon;
        const group = groups[index]!;
        if (group > 0xfff) this.#bytes[this.#length++] = hexDigits[group >>> 12]!;
        if (group > 0xff) this.#bytes[this.#length++] = hexDigits[(group >>> 8) & 15]!;
        if (group > 0xf) this.#bytes[this.#length++] = hexDigits[(group >>> 4) & 15]!;
        this.#bytes[this.#length++] = hexDigits[group & 15]!;
      }
    }
  }

  #digits(value: number): void {
    if (value > 0x3fffffff) {
      // Larger than the engine's fast integers: leading digits first.
      const leading = Math.trunc(value / 100_000);
      this.#digits(leading);
      this.#padded(value - leading * 100_000, 5);
      return;
    }
    let count = 1;
    for (let bound = 10; value >= bound && count < 10; bound *= 10) count++;
    this.#padded(value, count);
  }

  #padded(value: number, digits: number): void {
    const end = this.#length + digits;
    let left = value;
    for (let at = end - 1; at >= this.#length; at--) {
      const rest = (left / 10) | 0;
      this.#bytes[at] = zero + left - rest * 10;
      left = rest;
    }
    this.#length = end;
  }

  #room(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + bytes));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
