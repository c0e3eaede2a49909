/**
 * The client's own transport with longer reads, with sockets that are destroyed when an attempt or a connection is abandoned, and with credentials
 * and certificates that are read again for each attempt.
 *
 * The client's transport reads 64 KiB at a time, and its parser copies a message that does not end within one read twice: with 256 KiB few messages
 * of a batch are split. A read is copied into memory of its exact length.
 */

import { createConnection, isIP, type Socket } from "node:net";
import type { SecureContextOptions, TLSSocket } from "node:tls";
import type { ConnectionOptions, NatsConnection, ServerInfo } from "nats";
import { NatsConnectionImpl, setTransportFactory } from "nats/lib/src/nats-base-client.js";
import { NodeTransport } from "nats/lib/src/node_transport.js";
import type { MessageMemory } from "../frames/message-memory.ts";
import { AccessError, type Handshake } from "./handshake.ts";
import { boundedLookup } from "./names.ts";

const readBytesMax = 256 * 1_024;
const lookup = boundedLookup();
const earlyCharsMax = 4_096;
/** The only error for which the client ends an attempt at once. */
const endedEarly = "Authorization Violation (closed before PONG)";

interface OwnOptions extends ConnectionOptions {
  readonly handshake: Handshake;
}

interface ServerAddress {
  readonly hostname: string;
  readonly port: number;
  /** The name of a server whose address another server announced; may be empty. */
  readonly tlsName: string;
}

class OwnTransport extends NodeTransport {
  #dialled: Socket | undefined;
  #handshake: Handshake | undefined;
  #server = "";
  #name = "";
  #tlsContext: SecureContextOptions | null = null;
  #isGivenUp = false;
  /** A TLS alert after the handshake: the server refuses the client's certificate. */
  #alert: Error | undefined;
  /** Data before the server's first PONG; null: the PONG has arrived, and the connection is made. */
  #early: string | null = "";

  override async connect(server: ServerAddress, options: ConnectionOptions): Promise<void> {
    const { handshake } = options as OwnOptions;
    this.#handshake = handshake;
    this.#server = `${server.hostname.includes(":") ? `[${server.hostname}]` : server.hostname}:${server.port}`;
    this.#tlsContext = await handshake.prepare();
    // Reading files may take longer than an attempt.
    if (this.#isGivenUp) throw new Error("the attempt was given up");
    this.#name = server.tlsName || server.hostname;
    await super.connect(server, options);
  }

  override startTLS(): Promise<TLSSocket> {
    // Without a name, Node checks a certificate against "localhost".
    const tls = { ...this.#tlsContext, host: this.#name, servername: isIP(this.#name) === 0 ? this.#name : "" };
    this.options = { ...this.options, tls } as ConnectionOptions;
    return super.startTLS();
  }

  override async peekInfo(): Promise<ServerInfo> {
    const info = await super.peekInfo();
    this.#handshake?.admit(info, this.socket.remoteAddress ?? "");
    return info;
  }

  override setupHandlers(): void {
    super.setupHandlers();
    this.socket.on("error", (error: NodeJS.ErrnoException) => {
      if (!error.code?.startsWith("ERR_SSL")) return;
      this.#alert = error;
      this.#handshake?.refused(this.#server, error);
    });
    const look = (bytes: Uint8Array) => {
      if (this.#early === null) return;
      this.#early = (this.#early + Buffer.from(bytes).toString("latin1")).slice(-earlyCharsMax);
      if (this.#early.includes("PONG\r\n")) this.#early = null;
    };
    for (const bytes of this.yields) look(bytes);
    this.socket.on("data", look);
    // Without an error of the server, the client would wait for the PONG until the attempt times out.
    this.socket.prependListener("close", () => {
      if (this.#early === null) return;
      this.yields.push(Buffer.from(`-ERR '${endedEarly}'\r\n`));
      this.signal.resolve();
    });
  }

  override dial({ hostname, port }: { readonly hostname: string; readonly port: number }): Promise<Socket> {
    return new Promise((resolve, reject) => {
      let failure: Error | undefined;
      const socket: Socket = createConnection({
        host: hostname,
        port,
        lookup,
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
        // From here on the client adds its own listeners.
        socket.removeAllListeners();
        resolve(socket);
      });
    });
  }

  /**
   * Also destroys a socket that did not connect in time. The client forgets it, and its server may answer later: such a connection would get all
   * messages a second time. When its server ends it, the client takes the current connection for lost, and abandons that one in the same way.
   */
  override close(error?: Error): Promise<void> {
    this.#isGivenUp = true;
    this.#dialled?.destroy();
    if (error !== undefined && this.#alert === undefined)
      this.#handshake?.refused(this.#server, error.message.includes(endedEarly) ? this.#lastWords() : error);
    return super.close(error);
  }

  #lastWords(): Error | undefined {
    const [, words] = /-ERR '([^'\r\n]{1,100})/.exec(this.#early ?? "") ?? [];
    return words === undefined ? undefined : new AccessError(`closed the connection: ${words}`);
  }

  /** Called for a silent server. The client would wait until all that it wrote is sent, which never happens when the server does not read. */
  override disconnect(): void {
    if (this.connected) void this.close();
  }
}

/** As the client's `connect`, through the handshake. */
export function connectThrough(handshake: Handshake, options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new OwnTransport() });
  const { tls } = handshake.plan;
  const own: OwnOptions = {
    ...options,
    ...(tls === null ? {} : { tls: {} }),
    // The transport looks up names, and reports failures.
    resolve: false,
    authenticator: handshake.authenticator,
    handshake,
  };
  return NatsConnectionImpl.connect(own);
}

const lineEnd = Buffer.from("\r\n");

/**
 * Sends the first bytes of a memory's message, at most the server's limit, after everything that the client has passed on so far. The client's own
 * `publish` copies a message into memory of its own, which cost a pod a third of its time.
 *
 * @param to      the subject; if an answer is wanted, followed by a space and the subject for it.
 * @param onFree  called when the memory may be written again.
 * @returns false when it was not sent, and `onFree` will not be called: there is no connection, or not one that can be written to.
 */
export function sendFrom(connection: NatsConnection, memory: MessageMemory, bytes: number, to: string, onFree: () => void): boolean {
  const { transport, connected } = (connection as NatsConnectionImpl).protocol;
  if (!connected || connection.isClosed() || !(transport instanceof NodeTransport) || transport.isClosed) return false;
  const whole = memory.between(Buffer.from(`PUB ${to} ${bytes}\r\n`), bytes, lineEnd);
  if (whole === null) return false;
  // A failed write ends the connection, which reports this to its owner.
  transport.socket.write(whole, onFree);
  return true;
}
