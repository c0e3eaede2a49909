/** One nameserver over TLS (RFC 7858): one connection for many concurrent questions, opened when the first one is asked. */

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { checkServerIdentity, connect, type TLSSocket } from "node:tls";
import type { NameserverAddress } from "../domain/nameservers.ts";
import type { Channel, OpenQuestion, QuestionListener } from "./channel.ts";
import type { DnsCounts, DropReason } from "./counts.ts";
import { answersQuestion, type QuestionMessage } from "./message.ts";
import { randomId } from "./random-id.ts";

/** Half the ids, so that a free one is found within a few draws. */
const openMax = 32_768;

/** An unused connection is closed after this time; servers often close it sooner. */
const idleMs = 30_000;

/** With more unsent bytes the nameserver does not read: further questions go to other nameservers. */
const unsentBytesMax = 1 << 20;

export interface TlsChannelOptions {
  /** Address; `tls` is the name that the certificate must have. */
  readonly server: NameserverAddress;
  /** PEM certificates of authorities; undefined: those of Node. */
  readonly authorities: string | undefined;
  readonly connectMs: number;
  readonly counts: DnsCounts;
  /** Called with the reason when a connection fails. */
  readonly onRefused: (cause: Error) => void;
  readonly prepare: (question: QuestionMessage, id: number) => Buffer;
}

interface Waiting {
  readonly listener: QuestionListener;
  readonly sent: Buffer;
}

interface Connection {
  readonly socket: TLSSocket;
  hasAnswered: boolean;
  /** Bytes of an incomplete answer. */
  rest: Buffer;
}

/** Always verifies the certificate: a connection to another host is worse than none. */
export class TlsChannel implements Channel {
  readonly #options: TlsChannelOptions;
  readonly #listeners = new Map<number, Waiting>();
  #connection: Connection | null = null;
  #connecting: Promise<void> | null = null;
  #closed = false;

  constructor(options: TlsChannelOptions) {
    this.#options = options;
  }

  /** Rejects if the connection fails, or the certificate is not that of the nameserver. */
  async open(): Promise<void> {
    if (this.#connection !== null || this.#closed) return;
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null;
    });
    await this.#connecting;
  }

  async renew(): Promise<void> {
    this.#connection?.socket.destroy();
    this.#connection = null;
    await this.open();
  }

  ask(listener: QuestionListener): OpenQuestion | null {
    const unsent = this.#connection?.socket.writableLength ?? 0;
    if (this.#closed || this.#listeners.size >= openMax || unsent > unsentBytesMax) return null;
    let id = randomId();
    while (this.#listeners.has(id)) id = randomId();
    const waiting: Waiting = { listener, sent: framed(this.#options.prepare(listener.question, id)) };
    this.#listeners.set(id, waiting);
    this.#options.counts.asked("tls");
    if (this.#connection !== null) this.#connection.socket.write(waiting.sent);
    else this.open().catch(() => {});
    return {
      cancel: () => {
        if (this.#listeners.get(id) === waiting) this.#listeners.delete(id);
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#connecting?.catch(() => {});
    this.#connection?.socket.destroy();
    this.#connection = null;
  }

  async #connect(): Promise<void> {
    const { server, authorities, connectMs, onRefused } = this.#options;
    let socket: TLSSocket | null = null;
    try {
      const { address } = await lookup(server.host);
      const name = server.tls ?? server.host;
      // SNI has no addresses. A certificate names an address in a field of its own.
      const servername = isIP(name) === 0 ? name : "";
      const options = { host: address, port: server.port, servername, ALPNProtocols: ["dot"], minVersion: "TLSv1.2" } as const;
      socket = connect({
        ...options,
        ...(authorities === undefined ? {} : { ca: authorities }),
        rejectUnauthorized: true,
        checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
      });
      await secured(socket, connectMs);
    } catch (cause) {
      socket?.destroy();
      onRefused(cause as Error);
      this.#failAll();
      throw cause;
    }
    if (this.#closed) {
      socket.destroy();
      return;
    }
    this.#use(socket);
  }

  #use(socket: TLSSocket): void {
    const connection: Connection = { socket, hasAnswered: false, rest: Buffer.alloc(0) };
    this.#connection = connection;
    socket.setTimeout(idleMs, () => {
      if (this.#listeners.size === 0) socket.end();
    });
    socket.on("data", (chunk: Buffer) => this.#onData(connection, chunk));
    socket.on("close", () => this.#onClose(connection));
    for (const { sent } of this.#listeners.values()) socket.write(sent);
  }

  /**
   * Asks open questions again on a new connection: servers close connections at any time after an answer. If the connection had no answer,
   * they fail: the nameserver does not work.
   */
  #onClose(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = null;
    if (!connection.hasAnswered) this.#failAll();
    if (this.#listeners.size > 0 && !this.#closed) this.open().catch(() => {});
  }

  #failAll(): void {
    const all = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const { listener } of all) listener.onUnreachable();
  }

  #onData(connection: Connection, chunk: Buffer): void {
    let bytes = connection.rest.length === 0 ? chunk : Buffer.concat([connection.rest, chunk]);
    while (bytes.length >= 2) {
      const end = bytes.readUInt16BE(0) + 2;
      if (bytes.length < end) break;
      // Copy the message, because its question is overwritten.
      const fault = this.#deliver(Buffer.from(bytes.subarray(2, end)));
      if (fault === null) connection.hasAnswered = true;
      else this.#options.counts.dropped(fault);
      bytes = bytes.subarray(end);
    }
    connection.rest = bytes;
  }

  #deliver(message: Buffer): DropReason | null {
    if (message.length < 2) return "too_short";
    const id = message.readUInt16BE(0);
    const waiting = this.#listeners.get(id);
    if (waiting === undefined) return "unexpected";
    if (!answersQuestion(message, waiting.listener.question)) return "other_question";
    const fault = waiting.listener.onMessage(message);
    if (fault === null && this.#listeners.get(id) === waiting) this.#listeners.delete(id);
    return fault;
  }
}

/** The message after its length (RFC 1035 §4.2.2). */
function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  return Buffer.concat([length, message]);
}

async function secured(socket: TLSSocket, connectMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () => reject(new Error("closed before it was secured"));
  const timer = setTimeout(() => reject(new Error(`no TLS connection within ${connectMs} ms`)), connectMs);
  // This listener stays: a socket may fail after it was destroyed.
  socket.on("error", reject);
  socket.once("secureConnect", resolve);
  socket.once("close", onClose);
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    socket.off("close", onClose);
  }
}
