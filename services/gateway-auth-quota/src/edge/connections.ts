/** The connections of a listener: how many and whose, how many requests wait on one, what is left unread, and how they end at a stop. */

import { readFileSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type ProblemCode, ProblemError, problemBody, problemHeaders } from "@netfacts/contracts";
import { plainAddress, sourceOf } from "../domain/client-address.ts";
import type { GatewayMetrics } from "../metrics.ts";
import { FairShare, type Shortage } from "./fair-share.ts";
import type { KeylessGate } from "./keyless-gate.ts";
import type { RequestLog } from "./observe.ts";
import { RareLog } from "./rare-log.ts";
import { newRequestId } from "./request-id.ts";

export interface ConnectionOptions {
  /** Name of the resource in metrics and log lines. */
  readonly resource: string;
  /** Connections at a time, a quarter of them from one address. */
  readonly connectionsMax: number;
  /** Unanswered requests of one connection. */
  readonly pipelineMax: number;
  /** Time in which a client must take some of an answer that waits for it. */
  readonly writeStallMs: number;
  /** Whether the connections of this peer are those of many clients: a trusted proxy. */
  isShared(peer: string): boolean;
  /** Judges requests without a key; null: all pass. */
  readonly keyless: KeylessGate | null;
  readonly errorDocsBase: string;
  readonly metrics: GatewayMetrics;
  readonly log: RequestLog;
  readonly clock: { now(): number };
}

interface Connection {
  readonly socket: Socket;
  /** Null: a trusted proxy's, which takes no share. */
  readonly holder: string | null;
  /** Of its requests that are not answered, in their order. */
  readonly unanswered: Set<ServerResponse>;
  /** Buckets of the keys that it counts for. */
  readonly buckets: Set<string>;
  /** A request was refused as one too many: those behind it get no answer, as the connection ends with the refusal. */
  hasRefused: boolean;
  ignored: number;
  /** Bytes that had left when the present wait for the client began, and when; null: nothing waits. */
  stall: { readonly since: number; readonly taken: number } | null;
}

/** Less than this in `writeStallMs` is no reading. */
const takenBytesMin = 1_024;
/** Refused connections that may linger until their refusal is read. */
const lingeringMax = 32;
const lingerMs = 1_000;
/** Requests behind a refused one that are dropped before the connection is. */
const ignoredMax = 4_096;
/** Requests without a key that are too many are answered after this time, so that their client sends fewer; so many wait at a time. */
const holdBackMs = 1_000;
const heldBackMax = 1_024;
/** File descriptors that are not for callers: at least this many, or a quarter of all where those are few. */
const ownDescriptors = 64;

const keylessDetails: Readonly<Record<Shortage, string>> = {
  full: "The server is overloaded, and requests without a key are not answered now.",
  share: "Too many requests without a key came from this address.",
};

const connectionOf = new WeakMap<Socket, { readonly connection: Connection; readonly owner: Connections }>();

export class Connections {
  readonly #options: ConnectionOptions;
  readonly #connections = new Map<Socket, Connection>();
  readonly #shares: FairShare;
  readonly #keyShares: FairShare;
  readonly #warnings: RareLog;
  readonly #sweep: NodeJS.Timeout;
  #lingering = 0;
  #heldBack = 0;
  #draining = false;
  #stopping = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const max = Math.min(options.connectionsMax, descriptorsForCallers());
    if (max < options.connectionsMax)
      options.log.warn(
        { connections_max: max, wanted: options.connectionsMax, resource: options.resource },
        "fewer connections than CONNECTIONS_MAX are accepted, because the process may not open enough files; raise its limit (ulimit -n)",
      );
    this.#shares = new FairShare(max);
    this.#keyShares = new FairShare(max);
    this.#warnings = new RareLog(options.log);
    const connections = this.#connections;
    options.metrics.watchPlaces(options.resource, {
      max,
      get used() {
        return connections.size;
      },
    });
    this.#sweep = setInterval(() => this.#endStalled(), Math.ceil(options.writeStallMs / 5)).unref();
  }

  /** Stands between the server and its handlers from now on. */
  watch(server: Server): void {
    const serve = server.listeners("connection") as ((socket: Socket) => void)[];
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      if (this.#admit(socket)) for (const listener of serve) listener.call(server, socket);
    });
    const answer = server.listeners("request") as ((request: IncomingMessage, response: ServerResponse) => void)[];
    server.removeAllListeners("request");
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      if (this.#takes(request, response)) for (const listener of answer) listener.call(server, request, response);
    });
  }

  /** From now on each answer ends its connection, so that clients turn to other instances. Everything is still answered. */
  drain(): void {
    this.#draining = true;
    for (const { unanswered } of this.#connections.values()) for (const response of unanswered) endWith(response);
  }

  /** Ends what is idle or half-sent at once, the rest with their answers, and what is left after `stopMsMax` then. */
  stop(stopMsMax: number): void {
    this.drain();
    this.#stopping = true;
    clearInterval(this.#sweep);
    for (const { socket, unanswered } of this.#connections.values()) if (unanswered.size === 0) socket.destroy();
    setTimeout(() => {
      for (const socket of this.#connections.keys()) socket.destroy();
    }, stopMsMax).unref();
  }

  /** Counts the connection for the key. @throws ProblemError where the key has its quarter of all. */
  holdFor(connection: Connection, bucket: string): void {
    const { holder, buckets } = connection;
    if (holder === null || buckets.has(bucket)) return;
    const shortage = this.#keyShares.take(bucket);
    if (shortage !== null) {
      const { resource, metrics } = this.#options;
      metrics.shortages(`${resource}_of_key`, shortage).inc();
      this.#warnings.warn(resource, { resource: `${resource}_of_key`, reason: shortage }, "a key has too many connections");
      throw new ProblemError("temporarily_overloaded", {
        detail: `The key already has ${this.#keyShares.holderMax} connections to this gateway, which is the limit for one key.`,
        headers: { connection: "close" },
      });
    }
    buckets.add(bucket);
  }

  #admit(socket: Socket): boolean {
    const peer = socket.remoteAddress ?? "";
    const holder = this.#options.isShared(peer) ? null : sourceOf(plainAddress(peer));
    const shortage = this.#stopping ? "full" : this.#takePlace(holder);
    if (shortage !== null) {
      this.#refuse(socket, shortage);
      return false;
    }
    const connection: Connection = {
      socket,
      holder,
      unanswered: new Set(),
      buckets: new Set(),
      hasRefused: false,
      ignored: 0,
      stall: null,
    };
    this.#connections.set(socket, connection);
    connectionOf.set(socket, { connection, owner: this });
    socket.once("close", () => this.#forget(connection));
    return true;
  }

  /** Gives its places back, once. */
  #forget({ socket, holder, buckets }: Connection): void {
    if (!this.#connections.delete(socket)) return;
    if (holder !== null) this.#shares.release(holder);
    for (const bucket of buckets) this.#keyShares.release(bucket);
  }

  #takePlace(holder: string | null): Shortage | null {
    if (this.#connections.size >= this.#shares.max && !this.#endIdle()) return "full";
    return holder === null ? null : this.#shares.take(holder);
  }

  /** Makes room: the connection that was opened first of those on which nothing is asked. Whether there was one. */
  #endIdle(): boolean {
    for (const connection of this.#connections.values()) {
      if (connection.unanswered.size > 0 || connection.holder === null) continue;
      this.#forget(connection);
      connection.socket.destroy();
      return true;
    }
    return false;
  }

  #refuse(socket: Socket, reason: Shortage): void {
    const { resource, metrics } = this.#options;
    const { max, holderMax } = this.#shares;
    metrics.shortages(resource, reason).inc();
    this.#warnings.warn(
      `${resource} ${reason}`,
      { resource, reason, client: socket.remoteAddress, used: this.#connections.size, max, address_max: holderMax },
      "connections are refused",
    );
    socket.on("error", () => {});
    if (this.#lingering >= lingeringMax) {
      socket.destroy();
      return;
    }
    this.#lingering += 1;
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once("close", () => {
      clearTimeout(timer);
      this.#lingering -= 1;
    });
    // Read, or closing it would take the refusal from the client.
    socket.resume();
    const detail = reason === "full" ? "Too many connections are open." : "Too many connections are open from this address.";
    socket.end(this.#problemText("temporarily_overloaded", detail));
  }

  /** Whether the request goes on to its route. */
  #takes(request: IncomingMessage, response: ServerResponse): boolean {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) return true;
    if (connection.hasRefused) {
      connection.ignored += 1;
      if (connection.ignored > ignoredMax) connection.socket.destroy();
      return false;
    }
    const { socket, unanswered } = connection;
    if (unanswered.size >= this.#options.pipelineMax) {
      this.#refuseRequest(connection, response);
      return false;
    }
    if (this.#draining) endWith(response);
    unanswered.add(response);
    response.once("close", () => {
      unanswered.delete(response);
      if (response.statusCode === 401) this.#options.keyless?.refused(request);
      if (this.#stopping && unanswered.size === 0) socket.destroySoon();
    });
    const shortage = this.#options.keyless?.judge(request) ?? null;
    if (shortage !== null) this.#holdBack(connection, response, shortage);
    return shortage === null;
  }

  #holdBack({ socket }: Connection, response: ServerResponse, reason: Shortage): void {
    this.#options.metrics.shortages("keyless", reason).inc();
    this.#warnings.warn("keyless", { client: socket.remoteAddress, reason }, "requests without a key are held back");
    if (this.#heldBack >= heldBackMax) {
      socket.destroy();
      return;
    }
    this.#heldBack += 1;
    const timer = setTimeout(() => {
      const { headers, body } = this.#problem("temporarily_overloaded", keylessDetails[reason]);
      response.writeHead(503, { ...headers, "content-length": Buffer.byteLength(body) });
      response.end(body);
    }, holdBackMs).unref();
    response.once("close", () => {
      clearTimeout(timer);
      this.#heldBack -= 1;
    });
  }

  #refuseRequest(connection: Connection, response: ServerResponse): void {
    const { metrics, pipelineMax } = this.#options;
    connection.hasRefused = true;
    metrics.shortages("pipeline", "share").inc();
    this.#warnings.warn(
      "pipeline",
      { client: connection.socket.remoteAddress, max: pipelineMax },
      "a connection has too many unanswered requests",
    );
    const { headers, body } = this.#problem("temporarily_overloaded", `The connection has more than ${pipelineMax} unanswered requests.`);
    endWith(response);
    response.writeHead(503, { ...headers, "content-length": Buffer.byteLength(body) });
    response.end(body);
  }

  #endStalled(): void {
    const { writeStallMs, resource, metrics } = this.#options;
    const now = performance.now();
    for (const connection of this.#connections.values()) {
      const { socket, stall } = connection;
      if (socket.writableLength === 0) {
        connection.stall = null;
        continue;
      }
      const taken = takenBytes(socket);
      if (stall === null) connection.stall = { since: now, taken };
      else if (now - stall.since < writeStallMs) continue;
      else if (taken - stall.taken >= takenBytesMin) connection.stall = { since: now, taken };
      else {
        metrics.connectionsEnded("unread").inc();
        this.#warnings.warn(
          "unread",
          { resource, client: socket.remoteAddress, unread_bytes: socket.writableLength },
          "a client does not read its answer",
        );
        socket.destroy();
      }
    }
  }

  #problem(code: ProblemCode, detail: string) {
    const { errorDocsBase, clock } = this.#options;
    const place = { instance: "/", requestId: newRequestId(clock.now()), errorDocsBase };
    const problem = new ProblemError(code, { detail });
    return { headers: problemHeaders(problem, place), body: JSON.stringify(problemBody(problem, place)) };
  }

  #problemText(code: ProblemCode, detail: string): string {
    const { headers, body } = this.#problem(code, detail);
    const all = { ...headers, connection: "close", "content-length": String(Buffer.byteLength(body)) };
    const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
    return `HTTP/1.1 503 Service Unavailable\r\n${head.join("")}\r\n${body}`;
  }
}

/** Counts the connection of a request for its key. @throws ProblemError where the key has too many. */
export function holdConnection(socket: Socket, bucket: string): void {
  const known = connectionOf.get(socket);
  if (known !== undefined) known.owner.holdFor(known.connection, bucket);
}

/** The answer says that it is the last of its connection, unless its head has left already. */
function endWith(response: ServerResponse): void {
  response.shouldKeepAlive = false;
}

/** Bytes that the system has taken from us; of a long write the part that left counts too, which only the handle knows. */
function takenBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    readonly _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
  };
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength;
}

/** How many connections leave enough file descriptors for stores, messages and files; without bound where the system tells none. */
function descriptorsForCallers(): number {
  let limits: string;
  try {
    limits = readFileSync("/proc/self/limits", "utf8");
  } catch {
    return Number.POSITIVE_INFINITY;
  }
  const open = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN);
  return Number.isNaN(open) ? Number.POSITIVE_INFINITY : Math.max(1, open - Math.max(ownDescriptors, Math.floor(open / 4)));
}
