/**
 * The client's own transport with longer reads, and with connections that end when they are given up.
 *
 * It reads 64 KiB at a time, and its parser copies a message that does not end within one read twice: with 256 KiB few messages of a
 * batch are cut. What is kept of a read is as long as what was read.
 */

import { createConnection, type Socket } from "node:net";
import type { ConnectionOptions, NatsConnection } from "nats";
import { NatsConnectionImpl, setTransportFactory } from "nats/lib/src/nats-base-client.js";
import { NodeTransport, nodeResolveHost } from "nats/lib/src/node_transport.js";
import type { MessageMemory } from "../frames/message-memory.ts";

const readBytesMax = 256 * 1_024;

class OwnTransport extends NodeTransport {
  #dialled: Socket | undefined;

  override dial({ hostname, port }: { readonly hostname: string; readonly port: number }): Promise<Socket> {
    return new Promise((resolve, reject) => {
      let failure: Error | undefined;
      const socket: Socket = createConnection({
        host: hostname,
        port,
        noDelay: true,
        onread: {
          buffer: Buffer.allocUnsafeSlow(readBytesMax),
          callback: (bytes, memory) => {
            const read = Buffer.allocUnsafeSlow(bytes);
            read.set(memory.subarray(0, bytes));
            return socket.push(read);
          },
        },
      });
      this.#dialled = socket;
      socket.once("error", (error) => {
        failure = error;
      });
      socket.once("close", () => reject(failure ?? new Error("the connection closed before it was established")));
      socket.once("connect", () => {
        // Its listeners from here on are the client's.
        socket.removeAllListeners();
        resolve(socket);
      });
    });
  }

  /**
   * Also of a connection that was not made in time. The client forgets it, and its server may answer later: such a connection gets all
   * messages once more, and when its server ends it the client takes the one in use for lost, and leaves that behind in turn.
   */
  override close(error?: Error): Promise<void> {
    this.#dialled?.destroy();
    return super.close(error);
  }

  /** Of a server that is silent. The client waits until all that it wrote has left, which is never when the server does not read. */
  override disconnect(): void {
    if (this.connected) void this.close();
  }
}

/** As `connect` of the client. */
export function connectWithLongReads(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new OwnTransport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect(options);
}

const lineEnd = Buffer.from("\r\n");

/**
 * Sends the first bytes of a memory's message, no more than the server takes, after all that the client has handed on so far. The
 * client's own `publish` copies a message into memory of its own, which cost a pod a third of its time.
 *
 * @param to      the subject; where an answer is wanted, and a blank, the subject for it.
 * @param onFree  called when the memory may be written again.
 * @returns false when it was not sent, and `onFree` will not be called: there is no connection, or none that we know how to write to.
 */
export function sendFrom(connection: NatsConnection, memory: MessageMemory, bytes: number, to: string, onFree: () => void): boolean {
  const { transport, connected } = (connection as NatsConnectionImpl).protocol;
  if (!connected || connection.isClosed() || !(transport instanceof NodeTransport) || transport.isClosed) return false;
  const whole = memory.between(Buffer.from(`PUB ${to} ${bytes}\r\n`), bytes, lineEnd);
  if (whole === null) return false;
  // A failed write ends the connection, which its owner is told by itself.
  transport.socket.write(whole, onFree);
  return true;
}
