/** Bits, most significant first, from a contiguous window of bytes that is refilled between blocks. */

/** Bytes that may be read past `end`; they are zero, so that a loop can look for the end once per 50 symbols. */
const slackBytes = 512;

export class BitWindow {
  /** Grows to what is appended before it is read. */
  bytes = new Uint8Array(slackBytes);
  /** Next byte to take into `hold`. */
  at = 0;
  end = 0;
  /** The lowest `count` bits of `hold` are the next bits. */
  hold = 0;
  count = 0;
  /** Where in the file `bytes[0]` stands. */
  #base: number;

  /** @param base  where in the file the first byte that is appended stands. */
  constructor(base = 0) {
    this.#base = base;
  }

  /** Whole bytes not yet read. */
  get left(): number {
    return this.end - this.at + (this.count >> 3);
  }

  /** True when more bits were read than there are. */
  get overrun(): boolean {
    return (this.at - this.end) * 8 > this.count;
  }

  /** Bits that were read of what was appended. */
  get position(): number {
    return this.at * 8 - this.count;
  }

  /** Byte of the file in which the next bit stands. */
  get offset(): number {
    return this.#base + this.at - ((this.count + 7) >> 3);
  }

  /** Puts `chunk` behind what is left. Not to be called after an overrun. */
  append(chunk: Uint8Array): void {
    this.bytes.copyWithin(0, this.at, this.end);
    this.#base += this.at;
    this.end -= this.at;
    this.at = 0;
    if (this.end + chunk.length + slackBytes > this.bytes.length) {
      const grown = new Uint8Array(2 * (this.end + chunk.length) + slackBytes);
      grown.set(this.bytes.subarray(0, this.end));
      this.bytes = grown;
    }
    this.bytes.set(chunk, this.end);
    this.end += chunk.length;
    this.bytes.fill(0, this.end, this.end + slackBytes);
  }

  /** @param n  1–24. */
  read(n: number): number {
    while (this.count < n) {
      this.hold = (this.hold << 8) | (this.bytes[this.at++] ?? 0);
      this.count += 8;
    }
    this.count -= n;
    return (this.hold >>> this.count) & ((1 << n) - 1);
  }

  read32(): number {
    return ((this.read(16) << 16) | this.read(16)) >>> 0;
  }

  /** Goes on at a bit, of those that were appended. */
  seek(position: number): void {
    this.at = position >>> 3;
    this.count = 0;
    const bits = position & 7;
    if (bits > 0) this.read(bits);
  }

  alignToByte(): void {
    this.count -= this.count & 7;
  }
}
