/** The connections of a listener: limits of their number by client and key, of pending requests and unread answers, and their end at a stop. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { ProblemError, problemBody, problemHeaders } from "@netfacts/contracts";
import { type Share, Shares } from "@netfacts/messaging";
import { plainAddress, sourceOf } from "../domain/client-address.ts";
import type { GatewayMetrics } from "../metrics.ts";
import type { CallerTurns } from "./caller-turns.ts";
import type { Cors } from "./cors.ts";
import { descriptorsForCallers } from "./descriptors.ts";
import { echoPath } from "./echo.ts";
import { callEvenly } from "./even-calls.ts";
import type { HeldBack, KeylessGate } from "./keyless-gate.ts";
import type { RequestLog } from "./observe.ts";
import { problemText } from "./problem-text.ts";
import { RareLog } from "./rare-log.ts";
import type { RefusalGate } from "./refusal-gate.ts";
import { newRequestId, requestIdOf } from "./request-id.ts";
import { type Shortage, shortageOf } from "./shortage.ts";
import { longestBeyond, takenBytes } from "./unread-answers.ts";

export interface ConnectionOptions {
  /** Name of the resource in metrics and log lines. */
  readonly resource: string;
  /** Connections at a time. Each address can have a quarter of them, if necessary in place of connections of others. */
  readonly connectionsMax: number;
  /** Unanswered requests of one connection. */
  readonly pipelineMax: number;
  /** Time in which a client must read part of an answer that waits for it. */
  readonly writeStallMs: number;
  /** Whether the connections of this peer are those of many clients: a trusted proxy. */
  isShared(peer: string): boolean;
  /** Judges requests without a key; null: all pass. */
  readonly keyless: KeylessGate | null;
  /** Judges requests with a key by the number of its refused requests; null: all pass. */
  readonly refusals: RefusalGate | null;
  readonly turns: CallerTurns;
  /** The bucket of a known key in this header; null: there is none. */
  bucketOf(authorization: string): string | null;
  readonly errorDocsBase: string;
  /** Headers of every answer. */
  readonly fixedHeaders: Readonly<Record<string, string>>;
  readonly cors: Pick<Cors, "ofRefusal" | "ofUnreadable">;
  readonly metrics: GatewayMetrics;
  readonly log: RequestLog;
  readonly clock: { now(): number };
}

interface Connection {
  readonly socket: Socket;
  /** Share of its address; null: the connection is a trusted proxy's, and takes no share. */
  readonly share: Share | null;
  /** Share of the key of its last request with a valid key; null: there was none. */
  keyShare: Share | null;
  /** Caller whose turn its requests take until one of them has a valid key, with the header that names this caller. */
  claim: { readonly authorization: string; readonly caller: string } | null;
  /** Whether it has brought a request. */
  isUsed: boolean;
  /** Responses to its requests that are not answered, in the order of the requests. */
  readonly unanswered: Set<ServerResponse>;
  /** Answers that are ready before their turn on the connection: the length of each, and the function that sends it. */
  readonly early: Map<ServerResponse, { readonly bytes: number; readonly send: () => void }>;
  /** A request was refused as one too many, or bytes as malformed. The connection ends with this refusal, so later requests get no answer. */
  hasRefused: boolean;
  ignored: number;
  /** Writes the refusal of an incomplete request after the answers before it; null: no refusal waits. */
  refuseLast: (() => void) | null;
  /** The response that this refusal replaces, because its request is incomplete; null: none. */
  replaced: ServerResponse | null;
  /** Bytes that the client had taken when the current wait for it began, and sweeps since then; null: no bytes wait. */
  stall: { sweeps: number; readonly taken: number } | null;
}

/** A client that takes fewer bytes in `writeStallMs` does not read. */
const takenBytesMin = 1_024;
/** Bytes of answers that may wait for clients who do not read them as fast as they come. */
const unreadBytesMax = 128 << 20;
/** Sweeps in `writeStallMs`. They are counted instead of the time: while this process stands still, no client can take bytes. */
const sweepsOfStall = 5;
/** Refused connections that may stay open until their refusal is read. */
const lingeringMax = 32;
const lingerMs = 1_000;
/** Requests, or malformed pieces, that are ignored after a refusal; with one more, the connection is closed. */
const ignoredMax = 4_096;
/**
 * Excess requests without a key are answered after this time, so that their client sends fewer. So are requests of a key of which too many
 * were refused. `heldBackMax` of them wait at a time, at most a quarter of them of one address or key.
 */
const holdBackMs = 1_000;
const heldBackMax = 1_024;
/** Connections that are paused in one round: each costs a little. */
const unreadMax = 512;
/** Connections that are read nevertheless, in turn: otherwise others could fill every round. */
const sparedMax = 2;

const keylessDetails: Readonly<Record<Shortage, string>> = {
  full: "The server is overloaded, and requests without a key are not answered now.",
  share: "Too many requests without a key came from this address.",
};

/** Members that are added to requests and sockets: weak maps took 2 % of the gateway's time. */
const hasKey = Symbol("a valid key was found in the request");
const heldBy = Symbol("the connection of the socket");
type KeyedRequest = IncomingMessage & { [hasKey]?: true };
type HeldSocket = Socket & { [heldBy]?: { readonly connection: Connection; readonly owner: Connections } };

export class Connections {
  readonly #options: ConnectionOptions;
  readonly #connections = new Map<Socket, Connection>();
  /** Shares of addresses. */
  readonly #shares: Shares;
  /** Shares of keys. */
  readonly #keyShares: Shares;
  readonly #warnings: RareLog;
  readonly #sweep: NodeJS.Timeout;
  readonly #heldBack = new Shares(heldBackMax, "kept free");
  /** Connections that may send many requests at once: they have sent none yet, or have sent one before the previous one was answered. */
  readonly #bursty = new Set<Connection>();
  /** Sockets that are not read in this round of the event loop. */
  readonly #unreadNow: Socket[] = [];
  /** Whether `#unreadNow` was filled in this round. */
  #hasLooked = false;
  #lingering = 0;
  #draining = false;
  #stopping = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    const max = Math.min(options.connectionsMax, descriptorsForCallers());
    if (max < options.connectionsMax)
      options.log.warn(
        { connections_max: max, wanted: options.connectionsMax, resource: options.resource },
        "fewer connections than CONNECTIONS_MAX are accepted, because the process cannot open enough files; raise its limit (ulimit -n)",
      );
    this.#shares = new Shares(max, "taken back");
    this.#keyShares = new Shares(max, "taken back");
    this.#warnings = new RareLog(options.log);
    const connections = this.#connections;
    options.metrics.watchPlaces(options.resource, {
      max,
      get used() {
        return connections.size;
      },
    });
    this.#sweep = callEvenly(Math.ceil(options.writeStallMs / sweepsOfStall), () => this.#endStalled());
  }

  /** Call once. From then on connections and requests pass here before the handlers of the server get them. */
  watch(server: Server): void {
    const serve = server.listeners("connection") as ((socket: Socket) => void)[];
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      if (this.#admit(socket)) for (const listener of serve) listener.call(server, socket);
    });
    const answer = server.listeners("request") as ((request: IncomingMessage, response: ServerResponse) => void)[];
    server.removeAllListeners("request");
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      this.#take(request, response, () => {
        const { turns } = this.#options;
        const caller = this.#callerOf(request);
        if (!turns.hasTime(caller)) this.#readNoMoreOf(caller, request.socket);
        turns.take(caller, request.socket, () => {
          // The client is gone.
          if (request.socket.destroyed) return;
          for (const listener of answer) listener.call(server, request, response);
        });
      });
    });
  }

  /**
   * Call when a caller has used up its time in this round of the event loop. Pauses those of its other connections that may have sent
   * hundreds of requests until the next round, because Node parses all that it reads. Pauses new connections too, as they may belong to the
   * caller. Connections that send one request at a time are still read: to pause and resume each of them takes processor time.
   */
  #readNoMoreOf(caller: string, reading: Socket): void {
    if (this.#hasLooked || this.#bursty.size === 0) return;
    this.#hasLooked = true;
    setImmediate(this.#readAgain);
    const spared: Connection[] = [];
    for (const connection of this.#bursty) {
      const { socket, keyShare, isUsed, unanswered } = connection;
      if (socket === reading || unanswered.size > 0 || (isUsed && keyShare?.caller !== caller)) continue;
      if (spared.length < sparedMax) spared.push(connection);
      else {
        socket.pause();
        if (this.#unreadNow.push(socket) === unreadMax) break;
      }
    }
    for (const connection of spared) {
      this.#bursty.delete(connection);
      this.#bursty.add(connection);
    }
  }

  readonly #readAgain = (): void => {
    this.#hasLooked = false;
    for (const socket of this.#unreadNow.splice(0)) socket.resume();
  };

  /** Each answer ends its connection from now on, so that clients turn to other instances. All requests are still answered. */
  drain(): void {
    this.#draining = true;
    for (const { unanswered } of this.#connections.values()) for (const response of unanswered) endWith(response);
  }

  /** Ends idle connections and incomplete requests at once, other connections after their answers, and all that are left after `stopMsMax`. */
  stop(stopMsMax: number): void {
    this.drain();
    this.#stopping = true;
    clearInterval(this.#sweep);
    for (const { socket, unanswered } of this.#connections.values()) if (unanswered.size === 0) socket.destroy();
    setTimeout(() => {
      for (const socket of this.#connections.keys()) socket.destroy();
    }, stopMsMax).unref();
  }

  /**
   * Answers leave in the order of their requests (RFC 9112, section 9.3.2). Node would keep early answers, and write all of them at once
   * after the one that they waited for.
   *
   * @param bytes  length of the answer, if it is known.
   * @returns null: the answer may leave; else send it when the promise resolves.
   */
  turnToAnswer(request: IncomingMessage, response: ServerResponse, bytes: number): Promise<void> | null {
    const { socket } = request;
    const connection = this.#connections.get(socket);
    if (connection === undefined || !connection.unanswered.has(response) || firstOf(connection.unanswered) === response) return null;
    return new Promise((resolve) => {
      const send = () => this.#options.turns.take(this.#callerOf(request), socket, resolve);
      connection.early.set(response, { bytes, send });
    });
  }

  #isAnswered(connection: Connection, response: ServerResponse): void {
    const { unanswered, early } = connection;
    unanswered.delete(response);
    // Must come before the answer that the refusal replaces.
    this.#refuseInTurn(connection);
    // `response` too: it may have ended before its turn, because its client is gone.
    for (const ready of [response, firstOf(unanswered)]) {
      if (ready === undefined) continue;
      const answer = early.get(ready);
      early.delete(ready);
      answer?.send();
    }
  }

  /** See `refuseAfterAnswers`. */
  refuseLast(connection: Connection, write: () => void): void {
    const { socket, unanswered } = connection;
    if (connection.hasRefused) {
      this.#ignore(connection);
      return;
    }
    connection.hasRefused = true;
    const newest = [...unanswered].at(-1);
    if (newest?.req.complete === false) {
      // A refusal in the middle of an answer would be read as part of it.
      if (newest.headersSent && unanswered.size === 1) {
        socket.destroy();
        return;
      }
      connection.replaced = newest;
    }
    connection.refuseLast = write;
    this.#refuseInTurn(connection);
  }

  #refuseInTurn(connection: Connection): void {
    const { socket, unanswered, refuseLast, replaced } = connection;
    const next = firstOf(unanswered);
    if (refuseLast === null || (next !== undefined && next !== replaced)) return;
    connection.refuseLast = null;
    // An answer that has begun cannot be replaced.
    if (next?.headersSent === true) socket.destroySoon();
    else refuseLast();
  }

  #ignore(connection: Connection): void {
    connection.ignored += 1;
    if (connection.ignored > ignoredMax) connection.socket.destroy();
  }

  /** The caller whose turn a request takes: the last valid key of its connection, else the key that its header names, else its address. */
  #callerOf({ socket, headers: { authorization } }: IncomingMessage): string {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return authorization ?? "";
    const { keyShare, claim, share } = connection;
    if (keyShare !== null || authorization === undefined) return keyShare?.caller ?? share?.caller ?? "";
    if (claim?.authorization === authorization) return claim.caller;
    const caller = this.#options.bucketOf(authorization) ?? authorization;
    connection.claim = { authorization, caller };
    return caller;
  }

  /** Counts the connection for the key, unless it ended before the key was found valid. */
  holdFor(connection: Connection, bucket: string): void {
    if (!this.#connections.has(connection.socket)) return;
    if (connection.share === null || connection.keyShare?.caller === bucket) return;
    if (connection.keyShare !== null) this.#keyShares.leave(connection.keyShare);
    connection.keyShare = this.#keyShares.enter(bucket);
  }

  #admit(socket: Socket): boolean {
    const peer = socket.remoteAddress ?? "";
    const source = this.#options.isShared(peer) ? null : sourceOf(plainAddress(peer));
    const share = this.#stopping ? "full" : this.#takePlace(source);
    if (share === "full" || share === "share") {
      this.#refuse(socket, share);
      return false;
    }
    const connection: Connection = {
      socket,
      share,
      keyShare: null,
      claim: null,
      isUsed: false,
      unanswered: new Set(),
      early: new Map(),
      hasRefused: false,
      ignored: 0,
      refuseLast: null,
      replaced: null,
      stall: null,
    };
    this.#connections.set(socket, connection);
    this.#bursty.add(connection);
    (socket as HeldSocket)[heldBy] = { connection, owner: this };
    socket.once("close", () => this.#forget(connection));
    return true;
  }

  /** Returns the places of the connection. Does nothing when called again. */
  #forget(connection: Connection): void {
    const { socket, share, keyShare, unanswered } = connection;
    if (!this.#connections.delete(socket)) return;
    // Node does not end responses to requests before a CONNECT; it has ended all others by now.
    for (const response of unanswered) response.destroy();
    this.#bursty.delete(connection);
    if (share !== null) this.#shares.leave(share);
    if (keyShare !== null) this.#keyShares.leave(keyShare);
  }

  /** @param source  null: a trusted proxy. @returns its share; null: it takes none. */
  #takePlace(source: string | null): Share | null | Shortage {
    if (this.#connections.size >= this.#shares.max && !this.#makeRoom(source)) return shortageOf(this.#shares, source);
    return source === null ? null : (this.#shares.enter(source) ?? "full");
  }

  /**
   * Ends a connection in favour of a new one: one of an address or key that has more than its quarter, else any that has no pending request.
   * An address that has its quarter replaces only its own.
   *
   * @returns whether a connection was ended.
   */
  #makeRoom(source: string | null): boolean {
    if (source !== null && this.#shares.hasQuarter(source))
      return this.#end(this.#find(({ share, unanswered }) => share?.caller === source && unanswered.size === 0));
    const [address, bucket] = [this.#shares.surplus(), this.#keyShares.surplus()];
    if (address === null && bucket === null)
      return this.#end(this.#find(({ share, unanswered }) => share !== null && unanswered.size === 0));
    const surplus = this.#find(({ share, keyShare }) => (address === null ? keyShare?.caller === bucket : share?.caller === address));
    const { resource, metrics } = this.#options;
    metrics.connectionsEnded("surplus").inc();
    this.#warnings.warn(
      `${resource} surplus`,
      { resource, client: surplus?.socket.remoteAddress, max: this.#shares.max },
      "connections are closed to make room for other clients",
    );
    return this.#end(surplus);
  }

  /** The first of these that has no pending request, else the last of them. */
  #find(isOne: (connection: Connection) => boolean): Connection | null {
    let last: Connection | null = null;
    for (const connection of this.#connections.values()) {
      if (!isOne(connection)) continue;
      if (connection.unanswered.size === 0) return connection;
      last = connection;
    }
    return last;
  }

  #end(connection: Connection | null): boolean {
    if (connection === null) return false;
    this.#forget(connection);
    connection.socket.destroy();
    return true;
  }

  #refuse(socket: Socket, reason: Shortage): void {
    const { resource, metrics } = this.#options;
    const { max } = this.#shares;
    metrics.shortages(resource, reason).inc();
    this.#warnings.warn(
      `${resource} ${reason}`,
      { resource, reason, client: socket.remoteAddress, used: this.#connections.size, max },
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
    // Closing a socket with unread bytes resets it, and the client would lose the refusal.
    socket.resume();
    const detail = reason === "full" ? "Too many connections are open." : "Too many connections are open, most of them from this address.";
    socket.end(this.#problemText(detail));
  }

  /** @param goOn  hands the request to its route; not called if the request is refused here. */
  #take(request: IncomingMessage, response: ServerResponse, goOn: () => void): void {
    const connection = this.#connections.get(request.socket);
    if (connection === undefined) {
      goOn();
      return;
    }
    if (connection.hasRefused) {
      this.#ignore(connection);
      return;
    }
    const { socket, unanswered } = connection;
    if (unanswered.size > 0) this.#bursty.add(connection);
    else if (!connection.isUsed) this.#bursty.delete(connection);
    connection.isUsed = true;
    if (unanswered.size >= this.#options.pipelineMax) {
      this.#refuseRequest(connection, response);
      return;
    }
    if (this.#draining) endWith(response);
    unanswered.add(response);
    const { keyless, refusals } = this.#options;
    const heldBack = keyless?.judge(request) ?? null;
    const refusedKey = heldBack === null ? (refusals?.judge(request) ?? null) : null;
    response.once("close", () => {
      this.#isAnswered(connection, response);
      // The caller is not charged if its key could not be checked (5xx).
      const isCharged = request.headers.authorization !== undefined && !isKeyed(request) && response.statusCode < 500;
      if (isCharged) keyless?.ended(request);
      else if (response.headersSent && isKeyed(request)) refusals?.ended(request, response.statusCode);
      if (this.#stopping && unanswered.size === 0) socket.destroySoon();
    });
    if (refusedKey !== null) this.#holdBackKey(connection, response, refusedKey, goOn);
    else if (heldBack === null) goOn();
    else this.#holdBackKeyless(connection, response, heldBack, goOn);
  }

  #holdBackKeyless(connection: Connection, response: ServerResponse, { reason, source, mayGoOn }: HeldBack, goOn: () => void): void {
    this.#options.metrics.shortages("keyless", reason).inc();
    this.#warnings.warn("keyless", { client: connection.socket.remoteAddress, reason }, "requests without a key are held back");
    this.#holdBack(connection, response, source, () => {
      if (mayGoOn) return goOn();
      const { headers, body } = this.#problem(keylessDetails[reason], response.req);
      response.writeHead(503, { ...headers, "content-length": Buffer.byteLength(body) });
      response.end(body);
    });
  }

  #holdBackKey(connection: Connection, response: ServerResponse, id: string, goOn: () => void): void {
    this.#options.metrics.shortages("refusals", "share").inc();
    this.#warnings.warn(
      "refusals",
      { client: connection.socket.remoteAddress, key_id: id },
      "requests of a key are held back, because too many of them were refused",
    );
    this.#holdBack(connection, response, `key ${id}`, goOn);
  }

  /** @param then called after a while, unless the connection has ended by then. */
  #holdBack({ socket }: Connection, response: ServerResponse, caller: string, then: () => void): void {
    const share = this.#heldBack.enter(caller);
    if (share === null) {
      socket.destroy();
      return;
    }
    const timer = setTimeout(then, holdBackMs).unref();
    response.once("close", () => {
      clearTimeout(timer);
      this.#heldBack.leave(share);
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
    const { headers, body } = this.#problem(`The connection has more than ${pipelineMax} unanswered requests.`, response.req);
    endWith(response);
    response.writeHead(503, { ...headers, "content-length": Buffer.byteLength(body) });
    response.end(body);
  }

  #endStalled(): void {
    for (const connection of this.#connections.values()) {
      const { socket, stall } = connection;
      if (socket.writableLength === 0) {
        connection.stall = null;
        continue;
      }
      const taken = takenBytes(socket);
      if (stall === null) connection.stall = { sweeps: 0, taken };
      else if (++stall.sweeps < sweepsOfStall) continue;
      else if (taken - stall.taken >= takenBytesMin) connection.stall = { sweeps: 0, taken };
      else this.#endUnread(connection);
    }
    const waiting = [...this.#connections.values()].map((connection) => ({
      connection,
      caller: (connection.keyShare ?? connection.share)?.caller ?? "",
      bytes: waitingBytes(connection),
    }));
    for (const { connection } of longestBeyond(waiting, unreadBytesMax)) this.#endUnread(connection);
  }

  #endUnread(connection: Connection): void {
    const { resource, metrics } = this.#options;
    const { socket } = connection;
    metrics.connectionsEnded("unread").inc();
    this.#warnings.warn(
      "unread",
      { resource, client: socket.remoteAddress, unread_bytes: waitingBytes(connection) },
      "a client does not read its answer",
    );
    socket.destroy();
  }

  #problem(detail: string, { url = "/", headers }: IncomingMessage) {
    const { fixedHeaders, cors, errorDocsBase, clock } = this.#options;
    const problem = new ProblemError("temporarily_overloaded", { detail });
    const place = { instance: echoPath(url), requestId: requestIdOf(headers["x-request-id"], clock.now()), errorDocsBase };
    return {
      headers: { ...fixedHeaders, ...cors.ofRefusal(headers.origin), ...problemHeaders(problem, place) },
      body: JSON.stringify(problemBody(problem, place)),
    };
  }

  /** Before any request was read. */
  #problemText(detail: string): string {
    const { errorDocsBase, cors, clock } = this.#options;
    const fixedHeaders = { ...this.#options.fixedHeaders, ...cors.ofUnreadable };
    const now = clock.now();
    const place = { instance: "/", requestId: newRequestId(now), errorDocsBase };
    return problemText(new ProblemError("temporarily_overloaded", { detail }), place, { fixedHeaders, now });
  }
}

/** Call when the key of a request was found valid: marks the request, and counts its connection for the key. */
export function holdConnection(request: IncomingMessage, bucket: string): void {
  (request as KeyedRequest)[hasKey] = true;
  const known = (request.socket as HeldSocket)[heldBy];
  if (known !== undefined) known.owner.holdFor(known.connection, bucket);
}

/**
 * Refuses an incomplete or malformed request and ends its connection, after the answers to the complete requests before it (RFC 9112,
 * section 9.3.2). If the body of a request cannot be read, or does not come, the refusal replaces its answer. Only the first refusal of a
 * connection counts. It waits as long as the answers before it take.
 *
 * @param write  writes the refusal and ends the connection. Not called if the connection ends before, or in the middle of an answer.
 */
export function refuseAfterAnswers(socket: Socket, write: () => void): void {
  const known = (socket as HeldSocket)[heldBy];
  if (known === undefined) write();
  else known.owner.refuseLast(known.connection, write);
}

function isKeyed(request: KeyedRequest): boolean {
  return request[hasKey] === true;
}

function firstOf(responses: ReadonlySet<ServerResponse>): ServerResponse | undefined {
  return responses.values().next().value;
}

/** Makes the answer say that it is the last of its connection, unless its head has been sent. */
function endWith(response: ServerResponse): void {
  response.shouldKeepAlive = false;
}

/** Bytes of answers that are ready and that the client has not taken. */
function waitingBytes({ socket, early }: Connection): number {
  if (socket.destroyed) return 0;
  let bytes = socket.writableLength;
  for (const answer of early.values()) bytes += answer.bytes;
  return bytes;
}
