/** Requests without a valid key: limited by address, and refused first under load, so that they take nothing from callers with a key. */

import type { IncomingMessage } from "node:http";
import { parseKeyText } from "@netfacts/keys";
import { plainAddress, sourceOf } from "../domain/client-address.ts";
import type { Shortage } from "./shortage.ts";
import { TokenBuckets } from "./token-buckets.ts";

export interface KeylessOptions {
  /** Requests per second of one IPv4 address or IPv6 /64; bursts may have twice as many. */
  readonly perSecondMax: number;
  /** Whether the event loop is late: then no request without a key is accepted. */
  isStrained(): boolean;
  /** Whether this header has a key that was found valid before. */
  isKnownKey(authorization: string): boolean;
  clientAddress(request: IncomingMessage): string;
  /** Whether a browser asks what the request that follows may do (`cors.ts`). */
  isPreflight(request: IncomingMessage): boolean;
}

/** Preflights for each request without a key: decision 100. */
const preflightsFactor = 20;

/** A request that is held back. */
export interface HeldBack {
  readonly reason: Shortage;
  /** The address or network whose limit holds it back. */
  readonly source: string;
  /** Whether it may continue after a while: its key is not known yet, and a valid key is never refused because of its neighbours. */
  readonly mayGoOn: boolean;
}

const bearer = /^bearer +([^ ]+) *$/i;

export class KeylessGate {
  readonly #options: KeylessOptions;
  /** Buckets by source. */
  readonly #budgets: TokenBuckets;
  /** Those of preflights, which belong to requests with a key. */
  readonly #preflights: TokenBuckets;

  constructor(options: KeylessOptions) {
    this.#options = options;
    this.#budgets = new TokenBuckets(options.perSecondMax);
    this.#preflights = new TokenBuckets(options.perSecondMax * preflightsFactor);
  }

  /**
   * Charges a request without a key. A request with a key is charged when it has ended (`ended`), if the key was not found valid.
   *
   * @returns null: the request may pass.
   *
   * Cost for a request with a key: one lookup of the budget of its address. The key is looked up only when this budget is used up.
   */
  judge(request: IncomingMessage): HeldBack | null {
    const { authorization } = request.headers;
    const isStrained = this.#options.isStrained();
    if (authorization === undefined) {
      const source = this.#source(request);
      if (isStrained) return { reason: "full", source, mayGoOn: false };
      const budgets = this.#options.isPreflight(request) ? this.#preflights : this.#budgets;
      return budgets.take(source) ? null : { reason: "share", source, mayGoOn: false };
    }
    if (this.#budgets.isUnused && !isStrained) return null;
    const source = this.#source(request);
    if (!isStrained && this.#budgets.tokens(source) >= 1) return null;
    if (this.#options.isKnownKey(authorization)) return null;
    return { reason: isStrained ? "full" : "share", source, mayGoOn: isKeyText(authorization) };
  }

  /** Charges a request with a key that has ended, and whose key was not found valid, as a request without a key. */
  ended(request: IncomingMessage): void {
    this.#budgets.take(this.#source(request));
  }

  #source(request: IncomingMessage): string {
    return sourceOf(plainAddress(this.#options.clientAddress(request)));
  }
}

function isKeyText(authorization: string): boolean {
  const token = bearer.exec(authorization)?.[1];
  return token !== undefined && parseKeyText(token) !== null;
}
