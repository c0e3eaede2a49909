/** One cache over TCP or TLS: connects, keeps its session running, and reconnects after failures. */

import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type RtrAction, RtrSession, type RtrSessionSettings } from "@netfacts/rpki/rtr";
import type { CacheAddress } from "./cache-address.ts";
import type { RtrClock } from "./clock.ts";

const linkDefaults = {
  /** Time in which the connection, including TLS, must be established. */
  connectMsMax: 10_000,
  /**
   * Wait after the first failure. Each further failure doubles it, until a connection has been synchronised for `retryMsMax`. A random share of up to
   * a half is subtracted.
   */
  retryMsMin: 1_000,
  retryMsMax: 120_000,
  /** Time in which a cache must be synchronised; after that, the next cache is asked too. */
  patienceMs: 30_000,
  /** Time for the last bytes, an Error Report, to be sent before a connection is closed. */
  lingerMs: 2_000,
} as const;
export type LinkSettings = { readonly [K in keyof typeof linkDefaults]: number };

/** `waiting`: for the next attempt. `no-data`: the cache said that it has no data yet. */
export type LinkState = "stopped" | "connecting" | "synchronising" | "synchronised" | "no-data" | "waiting";

export interface LinkEvents {
  /** Called when the state or the data have changed. */
  changed(link: CacheLink): void;
  /** `retryMs`: time until the next attempt. */
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
  /** Returns a number from 0 to 1. */
  readonly random?: () => number;
}

/** Most attempts without a wait, to try one protocol version after another; then the usual wait. */
const attemptsAtOnceMax = 3;

export class CacheLink {
  readonly cache: CacheAddress;
  readonly session: RtrSession;
  readonly #options: LinkOptions;
  readonly #settings: LinkSettings;
  #state: LinkState = "stopped";
  #socket: Socket | null = null;
  #failures = 0;
  /** Time from which the previous failures no longer count. A cache that fails after each answer must not be asked for everything each second. */
  #steadyAt = Number.POSITIVE_INFINITY;
  #attemptsAtOnce = 0;
  #lastFailure: string | null = null;
  #failedInARow = 0;
  #checkedAt: number | null = null;
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

  /** The last failure since it was last synchronised; null: there was none. */
  get lastFailure(): string | null {
    return this.#lastFailure;
  }

  /** Failures since it was last synchronised. */
  get failedInARow(): number {
    return this.#failedInARow;
  }

  /** Time of its last answer with data, or of its last failure; null: there was neither. */
  get checkedAt(): number | null {
    return this.#checkedAt;
  }

  get hasData(): boolean {
    return this.session.updatedAt !== null;
  }

  /** Whether another cache should be asked too. */
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

  /** Ends the connection and all timers; the data stay in the session. */
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
    // TLS checks the certificate against the host name, with the authorities that Node trusts (NODE_EXTRA_CA_CERTS adds some).
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
      // An event handler may have stopped this link.
      if (this.#state === "stopped") return;
      switch (action.kind) {
        case "send":
          this.#socket?.write(action.bytes);
          break;
        case "updated":
          this.#steadyAt = Math.min(this.#steadyAt, this.#now() + this.#settings.retryMsMax);
          this.#attemptsAtOnce = 0;
          this.#lastFailure = null;
          this.#failedInARow = 0;
          this.#checkedAt = this.#now();
          this.#to("synchronised");
          events.updated(this, action);
          break;
        case "no-data":
          this.#failed(action.failure.message);
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

  /** The connection broke, or could not be established. */
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
    if (this.#now() >= this.#steadyAt) this.#failures = 0;
    this.#steadyAt = Number.POSITIVE_INFINITY;
    if (atOnce && this.#attemptsAtOnce < attemptsAtOnceMax) {
      this.#attemptsAtOnce++;
      this.#to("waiting");
      this.#callOffRetry = clock.after(0, () => this.#connect());
      return;
    }
    this.#failed(reason);
    const full = Math.min(retryMsMin * 2 ** Math.min(this.#failures, 20), retryMsMax, this.session.intervals.retry * 1_000);
    this.#failures++;
    const retryMs = Math.ceil(full * (1 - random() / 2));
    this.#to("waiting");
    this.#callOffRetry = clock.after(retryMs, () => this.#connect());
    events.failed(this, reason, retryMs);
  }

  /**
   * Bytes that were written are still sent, and those of the cache are discarded until it closes: a socket that closes before that resets the
   * connection, and a cache that is still sending never reads the Error Report. One that does not close is disconnected.
   */
  #leave(): void {
    const socket = this.#socket;
    this.#socket = null;
    if (socket === null) return;
    socket.removeAllListeners("data");
    socket.resume();
    if (socket.connecting) socket.destroy();
    else {
      socket.end();
      setTimeout(() => socket.destroy(), this.#settings.lingerMs).unref();
    }
  }

  #failed(reason: string): void {
    this.#lastFailure = reason;
    this.#failedInARow++;
    this.#checkedAt = this.#now();
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
