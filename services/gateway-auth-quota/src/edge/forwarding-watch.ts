/** Warns when a peer that is not a trusted proxy reports client addresses: all its clients then count as one. */

import type { IncomingHttpHeaders } from "node:http";
import type { RequestLog } from "./observe.ts";
import { isForwardingIgnored, type ProxyTrust } from "./trusted-proxies.ts";

const warningMs = 60_000;

export class ForwardingWatch {
  readonly #trust: ProxyTrust;
  readonly #log: Pick<RequestLog, "warn">;
  readonly #monotonic: () => number;
  #quietUntil = Number.NEGATIVE_INFINITY;
  /** Requests since the last warning. */
  #requests = 0;

  constructor(trust: ProxyTrust, log: Pick<RequestLog, "warn">, monotonic: () => number = () => performance.now()) {
    this.#trust = trust;
    this.#log = log;
    this.#monotonic = monotonic;
  }

  look(headers: IncomingHttpHeaders, peer: string): void {
    if (!isForwardingIgnored(headers, peer, this.#trust)) return;
    this.#requests += 1;
    const now = this.#monotonic();
    if (now < this.#quietUntil) return;
    this.#quietUntil = now + warningMs;
    this.#log.warn(
      { peer, requests: this.#requests },
      `${this.#trust.header} from a peer that is not a trusted proxy is ignored; if the peer is your proxy, add its address to TRUSTED_PROXIES`,
    );
    this.#requests = 0;
  }
}
