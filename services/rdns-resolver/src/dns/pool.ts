/** The pool of nameservers: their order, their state, and changes of the list. */

import type { NameserverAddress } from "../domain/nameservers.ts";
import { rank } from "../domain/ranking.ts";
import type { DnsCounts } from "./counts.ts";
import { type AskedQuestion, exchange, type Outcome } from "./exchange.ts";
import { Nameserver } from "./nameserver.ts";

/** One in this many questions goes first to a failing nameserver, so that its recovery is noticed. */
const secondChance = 50;

export interface PoolOptions {
  /** Called at the start, and again while no nameserver answers: the system may have moved to another network. */
  readonly readServers: () => readonly NameserverAddress[];
  readonly sockets: number;
  readonly rounds: number;
  readonly timeoutMs: number;
  readonly silentProbesMax: number;
  readonly probeIntervalMs: number;
  /** Interval of measurements of the nameservers, if there are several. */
  readonly measureIntervalMs: number;
  /** Whether names are sent in random case, and whether cookies are sent (RFC 7873). */
  readonly randomCase: boolean;
  readonly cookies: boolean;
  readonly tlsAuthorities: string | undefined;
  readonly counts: DnsCounts;
}

export class NameserverPool {
  readonly #options: PoolOptions;
  #servers: readonly Nameserver[] = [];
  #stopped = false;
  #asked = 0;
  /** `#asked` at the last measurement. */
  #askedBefore = 0;
  #measuring: NodeJS.Timeout | undefined;
  #measured: Promise<unknown> = Promise.resolve();
  /** Replacement of the nameservers by others, in progress. */
  #replacing: Promise<void> = Promise.resolve();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#servers = this.#make(this.#options.readServers());
    await Promise.all(this.#servers.map((server) => server.start()));
    this.#measuring = setInterval(() => this.#measure(), this.#options.measureIntervalMs);
  }

  /** Stop asking first: open questions get no more answers, and end only at their deadline. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#measuring);
    await this.#replacing;
    await Promise.all(this.#servers.map((server) => server.stop()));
    await this.#measured;
  }

  /**
   * Asks the nameservers. `deadline` is on the clock of `performance.now()`. Resolves at once if no nameserver is up.
   *
   * @param only  the nameservers that may be asked. Default: all.
   */
  ask(question: AskedQuestion, deadline: number, only?: readonly Nameserver[]): Promise<Outcome> {
    const { rounds, timeoutMs } = this.#options;
    return exchange({ question, servers: only ?? this.#order(), rounds, timeoutMs, deadline });
  }

  #order(): readonly Nameserver[] {
    if (this.#servers.length < 2) return this.#servers;
    this.#asked += 1;
    const order = rank(this.#servers);
    const failing = this.#asked % secondChance === 0 ? order.find((server) => server.up && server.failing) : undefined;
    return failing === undefined ? order : [failing, ...order.filter((server) => server !== failing)];
  }

  /** Measures all nameservers, unless there were no questions since the last time: an idle service sends nothing. */
  #measure(): void {
    if (this.#servers.length < 2 || this.#asked === this.#askedBefore) return;
    this.#askedBefore = this.#asked;
    this.#measured = Promise.all(this.#servers.filter((server) => server.up).map((server) => server.measure()));
  }

  #someUp(): boolean {
    return this.#servers.some((server) => server.up);
  }

  #make(addresses: readonly NameserverAddress[]): Nameserver[] {
    const onStillDown = () => this.#reread();
    return addresses.map((address) => new Nameserver({ ...this.#options, address, onStillDown }));
  }

  #reread(): void {
    if (this.#stopped || this.#someUp()) return;
    const addresses = this.#options.readServers();
    const text = (list: readonly NameserverAddress[]) => list.map(({ host, port, tls = "" }) => `${host} ${port} ${tls}`).join();
    if (text(addresses) === text(this.#servers.map(({ address }) => address))) return;
    const old = this.#servers;
    this.#servers = this.#make(addresses);
    const started = this.#servers.map((server) => server.start());
    const stopped = old.map((server) => server.stop());
    this.#replacing = Promise.all([this.#replacing, ...started, ...stopped]).then(() => {});
  }
}
