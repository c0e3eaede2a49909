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
      socket.once("close", () => reject(failure ?? new Error("the connection was closed before it was there")));
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
