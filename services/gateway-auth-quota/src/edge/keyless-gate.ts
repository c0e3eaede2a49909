/** Requests without a key: bounded by address, and the first that go when the gateway is strained, so that they take nothing from callers with a key. */

import type { IncomingMessage } from "node:http";
import { parseKeyText } from "@netfacts/keys";
import { plainAddress, sourceOf } from "../domain/client-address.ts";
import type { Shortage } from "./fair-share.ts";

export interface KeylessOptions {
  /** Requests of one IPv4 address or IPv6 /64 per second; bursts may have twice as many. */
  readonly perSecondMax: number;
  /** Whether the gateway is late: then no request without a key is taken. */
  isStrained(): boolean;
  clientAddress(request: IncomingMessage): string;
}

/** What a source may still ask, on the clock of `performance.now()`. */
interface Budget {
  tokens: number;
  at: number;
}

/** More than these are not remembered: the oldest begins anew. */
const sourcesMax = 10_000;
const bearer = /^bearer +([^ ]+) *$/i;

export class KeylessGate {
  readonly #options: KeylessOptions;
  /** Those that asked last are last. */
  readonly #budgets = new Map<string, Budget>();

  constructor(options: KeylessOptions) {
    this.#options = options;
  }

  /** Charges a request without a key; null: it may pass. Cost for one with a key: a look at one header, while nobody is over the bound. */
  judge(request: IncomingMessage): Shortage | null {
    const { authorization } = request.headers;
    if (authorization === undefined) {
      if (this.#options.isStrained()) return "full";
      return this.#take(this.#source(request)) ? null : "share";
    }
    // A text that is no key is answered 401, which `refused` charges: it is held back once these are too many.
    if (this.#budgets.size === 0 || isKeyText(authorization)) return null;
    return this.#tokens(this.#source(request)) < 1 ? "share" : null;
  }

  /** A request with a key got 401: it counts as one without. */
  refused(request: IncomingMessage): void {
    this.#take(this.#source(request));
  }

  #source(request: IncomingMessage): string {
    return sourceOf(plainAddress(this.#options.clientAddress(request)));
  }

  #take(source: string): boolean {
    const tokens = this.#tokens(source);
    this.#budgets.delete(source);
    for (const oldest of this.#budgets.keys()) {
      if (this.#budgets.size < sourcesMax) break;
      this.#budgets.delete(oldest);
    }
    this.#budgets.set(source, { tokens: Math.max(0, tokens - 1), at: performance.now() });
    return tokens >= 1;
  }

  #tokens(source: string): number {
    const { perSecondMax } = this.#options;
    const burst = 2 * perSecondMax;
    const budget = this.#budgets.get(source);
    if (budget === undefined) return burst;
    return Math.min(burst, budget.tokens + ((performance.now() - budget.at) / 1_000) * perSecondMax);
  }
}

function isKeyText(authorization: string): boolean {
  const token = bearer.exec(authorization)?.[1];
  return token !== undefined && parseKeyText(token) !== null;
}
