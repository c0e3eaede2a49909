/** Reusable memory in which messages are written: a link writes it to its socket without a copy. */

/** Space before a message for the protocol line of the link; a longer line does not fit. */
const startBytesMax = 256;
/** Space after a message. */
const endBytesMax = 8;

export class MessageMemory {
  /** Write the message here, from its beginning. */
  readonly message: Buffer;
  readonly #whole: Buffer;

  constructor(bytesMax: number) {
    this.#whole = Buffer.allocUnsafeSlow(startBytesMax + bytesMax + endBytesMax);
    this.message = this.#whole.subarray(startBytesMax, startBytesMax + bytesMax);
  }

  /** Returns the first bytes of `message` between `start` and `end`, in place; null if these do not fit. */
  between(start: Uint8Array, bytes: number, end: Uint8Array): Buffer | null {
    if (start.length > startBytesMax || end.length > endBytesMax) return null;
    const from = startBytesMax - start.length;
    const to = startBytesMax + bytes;
    this.#whole.set(start, from);
    this.#whole.set(end, to);
    return this.#whole.subarray(from, to + end.length);
  }
}
