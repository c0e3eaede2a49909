/** Memory that messages are written into and leave from, again and again: a link writes it to its socket as it is, without a copy. */

/** Room before a message for what its link writes there; a longer one does not fit. */
const startBytesMax = 256;
/** Room after a message. */
const endBytesMax = 8;

export class MessageMemory {
  /** Write the message here, from the front. */
  readonly message: Buffer;
  readonly #whole: Buffer;

  constructor(bytesMax: number) {
    this.#whole = Buffer.allocUnsafeSlow(startBytesMax + bytesMax + endBytesMax);
    this.message = this.#whole.subarray(startBytesMax, startBytesMax + bytesMax);
  }

  /** Returns the first bytes of `message` between `start` and `end`, in place; null when these find no room. */
  between(start: Uint8Array, bytes: number, end: Uint8Array): Buffer | null {
    if (start.length > startBytesMax || end.length > endBytesMax) return null;
    const from = startBytesMax - start.length;
    const to = startBytesMax + bytes;
    this.#whole.set(start, from);
    this.#whole.set(end, to);
    return this.#whole.subarray(from, to + end.length);
  }
}
