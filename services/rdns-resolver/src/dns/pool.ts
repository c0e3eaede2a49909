/** The nameservers in their order: who is asked, who is up, and which ones they are now. */

import type { NameserverAddress } from "../domain/nameservers.ts";
import type { DnsCounts } from "./counts.ts";
import { type AskedQuestion, exchange, type Outcome } from "./exchange.ts";
import { Nameserver } from "./nameserver.ts";

export interface PoolOptions {
  /** Read at the start, and again while none of them answers: the system may have moved to another network. */
  readonly readServers: () => readonly NameserverAddress[];
  readonly sockets: number;
  readonly rounds: number;
  readonly timeoutMs: number;
  readonly silentProbesMax: number;
  readonly probeIntervalMs: number;
  /** Whether names are sent in random case, and cookies (RFC 7873). */
  readonly randomCase: boolean;
  readonly cookies: boolean;
  readonly counts: DnsCounts;
}

export class NameserverPool {
  readonly #options: PoolOptions;
  #servers: readonly Nameserver[] = [];
  #stopped = false;
  /** The exchange of one set of nameservers for another. */
  #replacing: Promise<void> = Promise.resolve();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#servers = this.#make(this.#options.readServers());
    await Promise.all(this.#servers.map((server) => server.start()));
  }

  /** Questions that are open end when their time is up, as nothing answers them any more: stop asking first. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#replacing;
    await Promise.all(this.#servers.map((server) => server.stop()));
  }

  /** `deadline` is on the clock of `performance.now()`. Answers at once when no nameserver is up. */
  ask(question: AskedQuestion, deadline: number): Promise<Outcome> {
    const { rounds, timeoutMs } = this.#options;
    return exchange({ question, servers: this.#servers, rounds, timeoutMs, deadline });
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
    const text = (list: readonly NameserverAddress[]) => list.map(({ host, port }) => `${host} ${port}`).join();
    if (text(addresses) === text(this.#servers.map(({ address }) => address))) return;
    const old = this.#servers;
    this.#servers = this.#make(addresses);
    const started = this.#servers.map((server) => server.start());
    const stopped = old.map((server) => server.stop());
    this.#replacing = Promise.all([this.#replacing, ...started, ...stopped]).then(() => {});
  }
}
