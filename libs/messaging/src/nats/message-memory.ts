/**
 * Memory that messages are written into and leave from, again and again. The client's own `publish` copies a message once more into
 * memory of its own, which cost a pod a third of its time: what is written in here goes to the connection's socket as it is.
 */

import type { NatsConnection } from "nats";
import type { NatsConnectionImpl } from "nats/lib/nats-base-client/nats.js";
import { NodeTransport } from "nats/lib/src/node_transport.js";

/** Room for the line before a message, `PUB <subject> <bytes>\r\n`; one that is longer takes the way of `publish`. */
const lineBytesMax = 256;
const lineEnd = Buffer.from("\r\n");

export class MessageMemory {
  /** Where the message is written, from the front. */
  readonly message: Buffer;
  readonly #whole: Buffer;

  constructor(bytesMax: number) {
    this.#whole = Buffer.allocUnsafeSlow(lineBytesMax + bytesMax + lineEnd.length);
    this.message = this.#whole.subarray(lineBytesMax, lineBytesMax + bytesMax);
  }

  /**
   * Sends the first bytes of `message`, not more than the server takes, after all that the client has handed on so far.
   *
   * @param onFree called when the memory may be written again.
   * @returns false when it was not sent, and `onFree` will not be called: there is no connection, or none that we know how to write to.
   */
  send(connection: NatsConnection, subject: string, bytes: number, onFree: () => void): boolean {
    const { transport, connected } = (connection as NatsConnectionImpl).protocol;
    if (!connected || connection.isClosed() || !(transport instanceof NodeTransport) || transport.isClosed) return false;
    const line = Buffer.from(`PUB ${subject} ${bytes}\r\n`);
    if (line.length > lineBytesMax) return false;
    const start = lineBytesMax - line.length;
    const end = lineBytesMax + bytes;
    this.#whole.set(line, start);
    this.#whole.set(lineEnd, end);
    // A failed write ends the connection, which its owner is told by itself.
    transport.socket.write(this.#whole.subarray(start, end + lineEnd.length), onFree);
    return true;
  }
}
