/** Reads bits, most significant first, from a contiguous window of bytes that is refilled between blocks. */

/** Number of zero bytes that may be read past `end`, so that a loop needs to check the end only once per 50 symbols. */
const slackBytes = 512;

export class BitWindow {
  /** Grows with the data that are appended before they are read. */
  bytes = new Uint8Array(slackBytes);
  /** Index of the next byte for `hold`. */
  at = 0;
  end = 0;
  /** The lowest `count` bits of `hold` are the next bits. */
  hold = 0;
  count = 0;
  /** Offset of `bytes[0]` in the file. */
  #base: number;

  /** @param base  offset in the file of the first byte that is appended. */
  constructor(base = 0) {
    this.#base = base;
  }

  /** Number of whole bytes that are not read yet. */
  get left(): number {
    return this.end - this.at + (this.count >> 3);
  }

  /** True when more bits were read than there are. */
  get overrun(): boolean {
    return (this.at - this.end) * 8 > this.count;
  }

  /** Number of appended bits that were read. */
  get position(): number {
    return this.at * 8 - this.count;
  }

  /** Offset in the file of the byte that contains the next bit. */
  get offset(): number {
    return this.#base + this.at - ((this.count + 7) >> 3);
  }

  /** Appends `chunk` to the unread bytes. Must not be called after an overrun. */
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

  /** Continues at a bit, counted from the appended data. */
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
