/** A TCP proxy on loopback that simulates failures of networks: it cuts, delays, half-closes and freezes connections. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "./free-ports.ts";

export type DirectionName = "toTarget" | "toClient";

export interface TcpProxy {
  /** The target's URL with the proxy's host and port. */
  readonly url: string;
  readonly port: number;
  /** Number of open connections. */
  readonly connections: number;
  /** Resets every connection and refuses new ones, until `restore`. */
  cut(): Promise<void>;
  /** Delays all data, in both directions or only in one, and keeps their order; 0: no delay. */
  delay(ms: number, only?: DirectionName): void;
  /** Closes the direction from the target to the client on all open connections; the other direction stays open. */
  halfClose(): void;
  /** Accepts connections and data but forwards nothing, not even ends, until `restore`. */
  freeze(): void;
  /** Undoes `cut`, `delay` and `freeze`; data held by a freeze are forwarded. */
  restore(): Promise<void>;
  stop(): Promise<void>;
}

/** Most bytes that one direction of a connection holds. Then its sender must wait, as with a network. */
const waitingBytesMax = 4 << 20;

/** Data that were read from one side and wait to be written to the other. */
class Direction {
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #state: ProxyState;
  readonly #name: DirectionName;
  #waiting: { readonly chunk: Buffer | null; readonly due: number }[] = [];
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #halfClosed = false;

  constructor(from: Socket, to: Socket, state: ProxyState, name: DirectionName) {
    this.#from = from;
    this.#to = to;
    this.#state = state;
    this.#name = name;
    from.on("data", (chunk: Buffer) => this.#take(chunk));
    from.on("end", () => this.#take(null));
    to.on("drain", () => this.#resume());
    to.on("close", () => clearTimeout(this.#timer));
  }

  /** Forwards data that are due. */
  pass(): void {
    clearTimeout(this.#timer);
    while (!this.#state.frozen && this.#waiting.length > 0) {
      const { chunk, due } = this.#waiting[0]!;
      const rest = due - performance.now();
      if (rest > 0) {
        this.#timer = setTimeout(() => this.pass(), rest);
        return;
      }
      this.#waiting.shift();
      this.#waitingBytes -= chunk?.length ?? 0;
      this.#write(chunk);
    }
    this.#resume();
  }

  /** Closes this direction, and drops further data. */
  halfClose(): void {
    this.#halfClosed = true;
    this.#to.end();
  }

  #take(chunk: Buffer | null): void {
    this.#waiting.push({ chunk, due: performance.now() + this.#state.delayMs[this.#name] });
    this.#waitingBytes += chunk?.length ?? 0;
    if (this.#waitingBytes > waitingBytesMax) this.#from.pause();
    this.pass();
  }

  #write(chunk: Buffer | null): void {
    if (this.#halfClosed || this.#to.destroyed) return;
    if (chunk === null) this.#to.end();
    else if (!this.#to.write(chunk)) this.#from.pause();
  }

  #resume(): void {
    if (this.#waitingBytes <= waitingBytesMax && !this.#to.writableNeedDrain) this.#from.resume();
  }
}

interface ProxyState {
  delayMs: Readonly<Record<DirectionName, number>>;
  frozen: boolean;
}

interface Pair {
  readonly client: Socket;
  readonly target: Socket;
  readonly toTarget: Direction;
  readonly toClient: Direction;
}

function reset(socket: Socket): void {
  // A socket that is still connecting has nothing to reset, and may never connect. A socket whose end is being sent cannot be reset: Node would keep
  // it open for ever.
  if (socket.connecting || socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** @param targetUrl  `scheme://host:port`, with any scheme over TCP. */
export async function startTcpProxy(targetUrl: string): Promise<TcpProxy> {
  const target = new URL(targetUrl);
  const host = target.hostname.replace(/^\[|\]$/g, "");
  const state: ProxyState = { delayMs: { toTarget: 0, toClient: 0 }, frozen: false };
  const pairs = new Set<Pair>();

  const accept = (client: Socket) => {
    const upstream = connect({ host, port: Number(target.port), allowHalfOpen: true });
    const pair: Pair = {
      client,
      target: upstream,
      toTarget: new Direction(client, upstream, state, "toTarget"),
      toClient: new Direction(upstream, client, state, "toClient"),
    };
    pairs.add(pair);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.setNoDelay(true);
      // Handled in `close`, which follows.
      socket.on("error", () => {});
      socket.on("close", (broken) => {
        if (client.destroyed && upstream.destroyed) pairs.delete(pair);
        else if (broken && !state.frozen) reset(other);
      });
    }
  };

  let server: Server | null = null;
  const listen = async (port: number): Promise<number> => {
    server = createServer({ allowHalfOpen: true }, accept);
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const close = async () => {
    const closing = server;
    server = null;
    const closed = closing === null ? null : new Promise((resolve) => closing.close(resolve));
    for (const { client, target: upstream } of pairs) for (const socket of [client, upstream]) reset(socket);
    await closed;
  };

  const port = await listen(await freePort());
  return {
    url: targetUrl.replace(target.host, `127.0.0.1:${port}`),
    port,
    get connections() {
      return [...pairs].filter(({ client }) => !client.destroyed).length;
    },
    cut: close,
    delay(ms, only) {
      state.delayMs = only === undefined ? { toTarget: ms, toClient: ms } : { toTarget: 0, toClient: 0, [only]: ms };
    },
    halfClose() {
      for (const { toClient } of pairs) toClient.halfClose();
    },
    freeze() {
      state.frozen = true;
    },
    async restore() {
      state.delayMs = { toTarget: 0, toClient: 0 };
      state.frozen = false;
      for (const { client, target: upstream, toTarget, toClient } of pairs) {
        toTarget.pass();
        toClient.pass();
        // One side was closed by an error during a freeze.
        if (client.errored !== null || upstream.errored !== null) for (const socket of [client, upstream]) reset(socket);
      }
      if (server === null) await listen(port);
    },
    stop: close,
  };
}
