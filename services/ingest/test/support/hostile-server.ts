/** An HTTP server over real sockets that says exactly what a test tells it to, right or wrong. */

import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

export interface HostileRequest {
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** From 0, over all connections. */
  readonly number: number;
}

/** Writes whatever it likes and ends the socket, or does not. */
export type Behaviour = (request: HostileRequest, socket: Socket) => unknown;

export interface HostileServer {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly HostileRequest[];
  /** From now on. */
  behave(behaviour: Behaviour): void;
  stop(): Promise<void>;
}

export interface HostileServerOptions {
  readonly host?: string;
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Beside TLS, HTTP without it on the same port. Default: false. */
  readonly plainToo?: boolean;
}

/** The first byte of a TLS connection (RFC 8446 §5.1: handshake). */
const tlsHandshake = 22;

export async function startHostileServer(
  behaviour: Behaviour = notThere,
  { host = "127.0.0.1", tls, plainToo = false }: HostileServerOptions = {},
): Promise<HostileServer> {
  const requests: HostileRequest[] = [];
  const sockets = new Set<Socket>();
  let current = behaviour;
  const onSocket = (socket: Socket): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    // Clients that give up are what is tested.
    socket.on("error", () => undefined);
    let head = "";
    const onData = (chunk: Buffer): void => {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.off("data", onData);
      socket.resume();
      const [first = "", ...lines] = head.slice(0, end).split("\r\n");
      const headers = Object.fromEntries(
        lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
      );
      const request = { path: first.split(" ")[1] ?? "", headers, number: requests.length };
      requests.push(request);
      current(request, socket);
    };
    socket.on("data", onData);
  };
  const secure = tls === undefined ? null : createTlsServer(tls, onSocket);
  // A client that does not trust us ends the handshake.
  secure?.on("tlsClientError", () => undefined);
  const either = (socket: Socket): void => {
    socket.on("error", () => undefined);
    socket.once("data", (first) => {
      socket.pause();
      socket.unshift(first);
      if (first[0] === tlsHandshake) {
        secure?.emit("connection", socket);
        return;
      }
      onSocket(socket);
      socket.resume();
    });
  };
  const server = secure === null ? createServer(onSocket) : plainToo ? createServer(either) : secure;
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? "http" : "https"}://${host}:${port}`,
    port,
    requests,
    behave(next) {
      current = next;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** The status line and headers; a body, and what its length is, are the caller's. */
export function writeHead(socket: Socket, status: number, headers: Readonly<Record<string, string | number>> = {}): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} Status\r\n${lines.join("")}connection: close\r\n\r\n`);
}

/** A whole and honest answer. */
export function answer(
  socket: Socket,
  status: number,
  headers: Readonly<Record<string, string | number>> = {},
  body: string | Uint8Array = "",
): void {
  writeHead(socket, status, { "content-length": Buffer.byteLength(body), ...headers });
  socket.end(body);
}

const notThere: Behaviour = (_request, socket) => answer(socket, 404);

/** A file as a good server has it: with a strong ETag, conditions and ranges. */
export function serveFile(body: Uint8Array, etag: string, headers: Readonly<Record<string, string>> = {}): Behaviour {
  return (request, socket) => {
    const own = { etag, "accept-ranges": "bytes", ...headers };
    if (request.headers["if-none-match"] === etag) {
      writeHead(socket, 304, own);
      socket.end();
      return;
    }
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? Number.NaN);
    if (Number.isNaN(from) || request.headers["if-range"] !== etag) answer(socket, 200, own, body);
    else answer(socket, 206, { ...own, "content-range": `bytes ${from}-${body.length - 1}/${body.length}` }, body.subarray(from));
  };
}
