/** Requests without a valid key: bounded by address, and the first that go when the gateway is strained, so that they take nothing from callers with a key. */

import type { IncomingMessage } from "node:http";
import { parseKeyText } from "@netfacts/keys";
import { plainAddress, sourceOf } from "../domain/client-address.ts";
import type { Shortage } from "./shortage.ts";

export interface KeylessOptions {
  /** Requests of one IPv4 address or IPv6 /64 per second; bursts may have twice as many. */
  readonly perSecondMax: number;
  /** Whether the gateway is late: then no request without a key is taken. */
  isStrained(): boolean;
  /** Whether this header has a key that was found valid before. */
  isKnownKey(authorization: string): boolean;
  clientAddress(request: IncomingMessage): string;
}

/** A request that is held back. */
export interface HeldBack {
  readonly reason: Shortage;
  /** Whose bound it is. */
  readonly source: string;
  /** It may go on after a while: its key has not been seen yet, and a valid one is never refused for its neighbours. */
  readonly mayGoOn: boolean;
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

  /**
   * Charges a request without a key. One with a key is charged when it has ended (`ended`), if the key was not found valid.
   *
   * @returns null: it may pass. Cost for one with a key: a look at the budget of its address; the key is looked at when that is used up.
   */
  judge(request: IncomingMessage): HeldBack | null {
    const { authorization } = request.headers;
    const isStrained = this.#options.isStrained();
    if (authorization === undefined) {
      const source = this.#source(request);
      if (isStrained) return { reason: "full", source, mayGoOn: false };
      return this.#take(source) ? null : { reason: "share", source, mayGoOn: false };
    }
    if (this.#budgets.size === 0 && !isStrained) return null;
    const source = this.#source(request);
    if (!isStrained && this.#tokens(source) >= 1) return null;
    if (this.#options.isKnownKey(authorization)) return null;
    return { reason: isStrained ? "full" : "share", source, mayGoOn: isKeyText(authorization) };
  }

  /** A request with a key has ended, and no valid key was found in it: it counts as one without. */
  ended(request: IncomingMessage): void {
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
