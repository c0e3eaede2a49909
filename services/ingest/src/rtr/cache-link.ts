/** One cache over TCP or TLS: connects, keeps its session going, and comes back after what breaks. */

import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type RtrAction, RtrSession, type RtrSessionSettings } from "@netfacts/rpki/rtr";
import type { CacheAddress } from "./cache-address.ts";
import type { RtrClock } from "./clock.ts";

export const linkDefaults = {
  /** For the connection, with TLS, to stand. */
  connectMsMax: 10_000,
  /** Wait after the first failure; doubled at each further one, less up to a half by chance. */
  retryMsMin: 1_000,
  retryMsMax: 120_000,
  /** A cache that is not synchronised so long after it was begun with is not waited for alone. */
  patienceMs: 30_000,
  /** For the last bytes to leave, an Error Report, before a connection is cut. */
  lingerMs: 2_000,
} as const;
export type LinkSettings = { readonly [K in keyof typeof linkDefaults]: number };

/** `waiting`: for the next attempt; `no-data`: the cache said that it has none yet. */
export type LinkState = "stopped" | "connecting" | "synchronising" | "synchronised" | "no-data" | "waiting";

export interface LinkEvents {
  /** Something is different: its state, or what it knows. */
  changed(link: CacheLink): void;
  /** `retryMs`: until the next attempt. */
  failed(link: CacheLink, reason: string, retryMs: number): void;
  updated(link: CacheLink, update: Extract<RtrAction, { kind: "updated" }>): void;
  discarded(link: CacheLink, reason: string): void;
  noted(link: CacheLink, message: string): void;
}

export interface LinkOptions {
  readonly cache: CacheAddress;
  readonly clock: RtrClock;
  readonly events: LinkEvents;
  readonly settings?: Partial<LinkSettings>;
  readonly session?: Partial<RtrSessionSettings>;
  /** 0 to 1. */
  readonly random?: () => number;
}

/** Of versions that are tried one after the other; then the usual wait. */
const attemptsAtOnceMax = 3;

export class CacheLink {
  readonly cache: CacheAddress;
  readonly session: RtrSession;
  readonly #options: LinkOptions;
  readonly #settings: LinkSettings;
  #state: LinkState = "stopped";
  #socket: Socket | null = null;
  #failures = 0;
  #attemptsAtOnce = 0;
  #lastFailure: string | null = null;
  #begunAt = Number.POSITIVE_INFINITY;
  #callOffRetry: () => void = () => undefined;
  #callOffWake: () => void = () => undefined;
  #callOffPatience: () => void = () => undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#settings = { ...linkDefaults, ...options.settings };
    this.cache = options.cache;
    this.session = new RtrSession(options.session);
  }

  get state(): LinkState {
    return this.#state;
  }

  /** What went wrong last, since it was last synchronised; null: nothing. */
  get lastFailure(): string | null {
    return this.#lastFailure;
  }

  get hasData(): boolean {
    return this.session.updatedAt !== null;
  }

  /** Whether another cache should be asked meanwhile. */
  get isTroubled(): boolean {
    if (this.session.isSynchronised) return false;
    return this.#lastFailure !== null || this.#options.clock.monotonic() >= this.#begunAt + this.#settings.patienceMs;
  }

  start(): void {
    if (this.#state !== "stopped") return;
    const { clock, events } = this.#options;
    this.#begunAt = clock.monotonic();
    this.#callOffPatience = clock.after(this.#settings.patienceMs, () => events.changed(this));
    this.#connect();
  }

  /** Ends the connection and everything that would go on; the data stay with the session. */
  stop(): void {
    this.#callOffPatience();
    this.#callOffRetry();
    this.#callOffWake();
    this.#leave();
    this.session.disconnected();
    this.#state = "stopped";
  }

  #connect(): void {
    const { tls, host, port } = this.cache;
    // TLS checks the certificate for the host, by the authorities that Node trusts (NODE_EXTRA_CA_CERTS adds some).
    const socket = tls ? connectTls({ host, port }) : connect({ host, port });
    this.#socket = socket;
    this.#to("connecting");
    const callOff = this.#options.clock.after(this.#settings.connectMsMax, () => {
      this.#lost(socket, `no connection within ${this.#settings.connectMsMax / 1_000} s`);
    });
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    socket.once(tls ? "secureConnect" : "connect", () => {
      callOff();
      if (this.#socket !== socket) return;
      this.#to("synchronising");
      this.#do(this.session.connected(this.#now()));
    });
    socket.on("data", (bytes: Buffer) => {
      if (this.#socket === socket) this.#do(this.session.received(bytes, this.#now()));
    });
    socket.on("error", (error: Error) => this.#lost(socket, error.message || (error as NodeJS.ErrnoException).code || "failed"));
    socket.once("close", () => {
      callOff();
      this.#lost(socket, "the cache closed the connection");
    });
  }

  #do(actions: readonly RtrAction[]): void {
    const { events } = this.#options;
    for (const action of actions) {
      // An event may have stopped this.
      if (this.#state === "stopped") return;
      switch (action.kind) {
        case "send":
          this.#socket?.write(action.bytes);
          break;
        case "updated":
          this.#failures = 0;
          this.#attemptsAtOnce = 0;
          this.#lastFailure = null;
          this.#to("synchronised");
          events.updated(this, action);
          break;
        case "no-data":
          this.#lastFailure = action.failure.message;
          this.#to("no-data");
          events.failed(this, action.failure.message, this.session.intervals.retry * 1_000);
          break;
        case "discarded":
          events.discarded(this, action.reason);
          break;
        case "note":
          events.noted(this, action.message);
          break;
        case "close":
          this.#again(action.failure.message, action.again);
      }
    }
    if (this.#state === "stopped") return;
    this.#setWake();
    events.changed(this);
  }

  /** The connection broke, or never stood. */
  #lost(socket: Socket, reason: string): void {
    if (this.#socket !== socket) return;
    this.session.disconnected();
    this.#again(reason, false);
    this.#setWake();
    this.#options.events.changed(this);
  }

  #again(reason: string, atOnce: boolean): void {
    this.#leave();
    const { clock, random = Math.random, events } = this.#options;
    const { retryMsMin, retryMsMax } = this.#settings;
    if (atOnce && this.#attemptsAtOnce < attemptsAtOnceMax) {
      this.#attemptsAtOnce++;
      this.#to("waiting");
      this.#callOffRetry = clock.after(0, () => this.#connect());
      return;
    }
    this.#lastFailure = reason;
    const full = Math.min(retryMsMin * 2 ** Math.min(this.#failures, 20), retryMsMax, this.session.intervals.retry * 1_000);
    this.#failures++;
    const retryMs = Math.ceil(full * (1 - random() / 2));
    this.#to("waiting");
    this.#callOffRetry = clock.after(retryMs, () => this.#connect());
    events.failed(this, reason, retryMs);
  }

  /** What was written still leaves; a cache that does not take it is cut off. */
  #leave(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    socket.removeAllListeners("data");
    socket.resume();
    if (socket.connecting) socket.destroy();
    else {
      socket.destroySoon();
      setTimeout(() => socket.destroy(), this.#settings.lingerMs).unref();
    }
  }

  #setWake(): void {
    this.#callOffWake();
    const { wakeAt } = this.session;
    if (wakeAt === null) return;
    this.#callOffWake = this.#options.clock.after(wakeAt - this.#now(), () => this.#do(this.session.elapsed(this.#now())));
  }

  #to(state: LinkState): void {
    this.#state = state;
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}
