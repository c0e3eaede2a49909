/** The whois server (RFC 3912): connections, limits by address, and lookups of answers. */

import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { encodeQuery, type OperationName, operations, ProblemError, type Questions, type View } from "@netfacts/contracts";
import { type Share, Shares } from "@netfacts/messaging";
import { listenAt, urlHost } from "@netfacts/runtime";
import type { GatewayConfig } from "../config.ts";
import { plainAddress, sourceOf } from "../domain/client-address.ts";
import type { LoadShedder } from "../edge/load-shedding.ts";
import type { RequestLog } from "../edge/observe.ts";
import { newRequestId } from "../edge/request-id.ts";
import { TokenBuckets } from "../edge/token-buckets.ts";
import { whoisPlace } from "../listen-places.ts";
import type { Dispatcher, ServiceQuestion } from "../lookups/dispatcher.ts";
import type { GatewayMetrics } from "../metrics.ts";
import { WhoisConnection } from "./whois-connection.ts";
import type { WhoisFormat, WhoisTarget } from "./whois-query.ts";
import { factLines, type WhoisRecords } from "./whois-rows.ts";

export interface WhoisDeps {
  readonly config: Pick<GatewayConfig, "WHOIS_HOST" | "WHOIS_PORT" | "WHOIS_PER_SECOND_MAX" | "WHOIS_CONNECTIONS_MAX" | "WHOIS_IDLE_MS">;
  readonly dispatcher: Dispatcher;
  readonly shedder: Pick<LoadShedder, "isStrained">;
  readonly metrics: GatewayMetrics;
  readonly log: RequestLog;
  readonly clock: { now(): number };
}

/** The operation for each kind of resource, and the members of its record that are needed, in the order of the record. */
const asked = {
  ip: { op: "ip", fields: ["allocation", "routing"] },
  prefix: { op: "prefix", fields: ["match", "origins", "as_set_origins", "allocation"] },
  asn: { op: "asn", fields: ["name", "registry", "registration_country", "allocated_on"] },
} as const satisfies Record<WhoisTarget["kind"], { op: OperationName; fields: readonly string[] }>;

/** A line of a bulk that waits until it can be charged to its address. */
interface WaitingLine {
  readonly units: number;
  readonly go: () => void;
}

interface Client {
  readonly connection: WhoisConnection;
  readonly served: Promise<void>;
  readonly place: Share;
}

/** Wait for all clients while the gateway is strained: callers with a key come first. */
const strainedMs = 1_000;

export class WhoisServer {
  readonly #deps: WhoisDeps;
  readonly #server: Server;
  readonly #clients = new Map<Socket, Client>();
  readonly #places: Shares;
  readonly #budgets: TokenBuckets;
  /** Waiting lines by address, at most one per connection, in order of arrival. */
  readonly #lines = new Map<string, Set<WaitingLine>>();
  #isStopping = false;

  constructor(deps: WhoisDeps) {
    this.#deps = deps;
    const { WHOIS_CONNECTIONS_MAX, WHOIS_PER_SECOND_MAX } = deps.config;
    this.#places = new Shares(WHOIS_CONNECTIONS_MAX, "taken back");
    this.#budgets = new TokenBuckets(WHOIS_PER_SECOND_MAX);
    deps.metrics.watchPlaces("whois_connections", this.#places);
    // A client may send everything and close its side before it reads.
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
    // A connection could not be accepted; the others continue.
    this.#server.on("error", (err) => deps.log.warn({ err }, "the whois listener failed"));
  }

  /** Resolves with the URL of the listener. */
  listen(): Promise<string> {
    return listenAt(whoisPlace(this.#deps.config), async (at) => {
      await new Promise<void>((resolve, reject) => {
        this.#server.once("error", reject);
        this.#server.listen(at, resolve);
      });
      const { address, port: bound } = this.#server.address() as { address: string; port: number };
      return `whois://${urlHost(address)}:${bound}`;
    });
  }

  /** Accepts no more connections, sends pending answers within `msMax`, and closes all connections. */
  async stop(msMax: number): Promise<void> {
    this.#isStopping = true;
    this.#server.close();
    for (const { connection } of this.#clients.values()) connection.stop();
    const late = setTimeout(() => this.#destroyAll(), msMax);
    await Promise.all([...this.#clients.values()].map(({ served }) => served));
    clearTimeout(late);
    this.#destroyAll();
  }

  #destroyAll(): void {
    for (const socket of this.#clients.keys()) socket.destroy();
  }

  #accept(socket: Socket): void {
    const { config, metrics, clock, log } = this.#deps;
    const source = sourceOf(plainAddress(socket.remoteAddress ?? ""));
    // The code that uses the connection sees its end.
    socket.on("error", () => {});
    // No bytes were sent in either direction: the client does not write, or does not read.
    socket.setTimeout(config.WHOIS_IDLE_MS, () => socket.destroy());
    const place = this.#placeFor(source);
    if (place === null) {
      metrics.shortages("whois_connections", this.#places.used >= this.#places.max ? "full" : "share").inc();
      socket.end("Error: too many connections.\n", () => socket.destroySoon());
      return;
    }
    const connection = new WhoisConnection(socket, {
      answer: (target, format, isBulk) => this.#answer(source, target, format, isBulk),
      take: (target) => this.#take(source, unitsOf(target)),
      wait: (target) => this.#wait(source, target === null ? 1 : unitsOf(target), socket),
      idleMs: config.WHOIS_IDLE_MS,
      clock,
    });
    const served = connection
      .run()
      .catch((cause: unknown) => {
        if (!socket.destroyed) log.warn({ err: cause }, "a whois connection failed");
      })
      .finally(() => {
        socket.end();
        if (socket.destroyed) return;
        // Drop further bytes, so that the end of the client's side is seen, and wait for this end for a limited time.
        socket.resume();
        const late = setTimeout(() => socket.destroy(), config.WHOIS_IDLE_MS).unref();
        socket.once("close", () => clearTimeout(late));
      });
    const client: Client = { connection, served, place };
    this.#clients.set(socket, client);
    socket.once("close", () => this.#leave(socket));
  }

  /**
   * A place for an address. If none is free, the address with the most places beyond a quarter loses its latest connection, unless this
   * address has its quarter. Null: no place.
   */
  #placeFor(source: string): Share | null {
    const place = this.#places.enter(source);
    if (place !== null || this.#places.hasQuarter(source)) return place;
    const surplus = this.#places.surplus();
    const victim = [...this.#clients].findLast(([, client]) => client.place.caller === surplus);
    if (victim === undefined) return null;
    const [socket] = victim;
    this.#leave(socket);
    socket.destroy();
    this.#deps.metrics.connectionsEnded("surplus").inc();
    return this.#places.enter(source);
  }

  #leave(socket: Socket): void {
    const client = this.#clients.get(socket);
    if (client === undefined) return;
    this.#clients.delete(socket);
    this.#places.leave(client.place);
  }

  /** Charges units to an address. @returns null, or, if they were not charged, the time to wait in ms. */
  #take(source: string, units: number): number | null {
    if (this.#deps.shedder.isStrained) return strainedMs;
    const missing = units - this.#budgets.tokens(source);
    if (missing > 0) return Math.ceil((missing * 1_000) / this.#deps.config.WHOIS_PER_SECOND_MAX);
    for (let taken = 0; taken < units; taken++) this.#budgets.take(source);
    return null;
  }

  /** Waits until the units are charged or the client is gone. Lines of an address wait in order of arrival, so that cheaper ones do not overtake. */
  #wait(source: string, units: number, socket: Socket): Promise<void> {
    if (socket.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const lines = this.#lines.get(source) ?? new Set();
      const go = () => {
        socket.off("close", go);
        lines.delete(line);
        resolve();
      };
      const line: WaitingLine = { units, go };
      socket.once("close", go);
      lines.add(line);
      if (this.#lines.has(source)) return;
      this.#lines.set(source, lines);
      void this.#letGo(source, lines);
    });
  }

  /** Ends the wait of each line when its address has the units, until no line waits. */
  async #letGo(source: string, lines: ReadonlySet<WaitingLine>): Promise<void> {
    for (const line of lines) {
      for (let waitMs = this.#take(source, line.units); waitMs !== null && !this.#isStopping; waitMs = this.#take(source, line.units)) {
        await sleep(waitMs);
        if (!lines.has(line)) break;
      }
      line.go();
    }
    this.#lines.delete(source);
  }

  async #answer(source: string, target: WhoisTarget, format: WhoisFormat, isBulk: boolean): Promise<readonly string[]> {
    const { metrics } = this.#deps;
    try {
      const record = await this.#record(source, target, isBulk);
      metrics.whoisRequests(target.kind, "answered").inc();
      return factLines(target, record as never, format);
    } catch (error) {
      metrics.whoisRequests(target.kind, "failed").inc();
      if (!(error instanceof ProblemError)) this.#deps.log.warn({ err: error }, "a whois request failed");
      return [`Error: ${error instanceof ProblemError ? error.message : "internal error."}\n`];
    }
  }

  async #record(source: string, target: WhoisTarget, isBulk: boolean): Promise<WhoisRecords[WhoisTarget["kind"]]> {
    const { dispatcher, clock } = this.#deps;
    const { op, fields } = asked[target.kind];
    const view: View = { fields, format: "json", page: null, meta: false };
    const question = questionOf(target);
    const serviceQuestion: Omit<ServiceQuestion, "budgetMs"> = {
      op,
      query: encodeQuery(op, question as never, view),
      units: unitsOf(target),
      // Each whois address has its own share of the services.
      context: { caller: `whois ${source}`, requestId: newRequestId(clock.now()), traceparent: null },
      pinnedSnapshot: null,
    };
    const { body, ending } = isBulk
      ? await new Promise<{ body: Uint8Array; ending?: Uint8Array }>((resolve, reject) => {
          dispatcher.askInBatch({ ...serviceQuestion, budgetMs: dispatcher.budgetMs(op) }, (outcome) =>
            outcome instanceof ProblemError ? reject(outcome) : resolve(outcome),
          );
        })
      : await dispatcher.ask(serviceQuestion);
    return JSON.parse(Buffer.concat([body, ending ?? Buffer.alloc(0)]).toString()) as WhoisRecords[WhoisTarget["kind"]];
  }
}

/** The cost of a lookup, as in the API: short prefixes are more work. */
function unitsOf(target: WhoisTarget): number {
  return operations[asked[target.kind].op].units(questionOf(target) as never);
}

/** Asks for one item of each list: lists are not used here. */
function questionOf(target: WhoisTarget): Questions["ip"] | Questions["prefix"] | Questions["asn"] {
  switch (target.kind) {
    case "ip":
      return { ip: target.ip };
    case "prefix":
      return { prefix: target.prefix, limit: 1 };
    case "asn":
      return { asn: target.asn, family: null, rpki: null, aggregate: false, limit: 1 };
  }
}
