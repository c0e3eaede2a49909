/** Requests without a valid key: bounded by address, and the first that go when the gateway is strained, so that they take nothing from callers with a key. */

import type { IncomingMessage } from "node:http";
import { parseKeyText } from "@netfacts/keys";
import { plainAddress, sourceOf } from "../domain/client-address.ts";
import type { Shortage } from "./shortage.ts";
import { TokenBuckets } from "./token-buckets.ts";

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

const bearer = /^bearer +([^ ]+) *$/i;

export class KeylessGate {
  readonly #options: KeylessOptions;
  /** By source. */
  readonly #budgets: TokenBuckets;

  constructor(options: KeylessOptions) {
    this.#options = options;
    this.#budgets = new TokenBuckets(options.perSecondMax);
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
      return this.#budgets.take(source) ? null : { reason: "share", source, mayGoOn: false };
    }
    if (this.#budgets.isUnused && !isStrained) return null;
    const source = this.#source(request);
    if (!isStrained && this.#budgets.tokens(source) >= 1) return null;
    if (this.#options.isKnownKey(authorization)) return null;
    return { reason: isStrained ? "full" : "share", source, mayGoOn: isKeyText(authorization) };
  }

  /** A request with a key has ended, and no valid key was found in it: it counts as one without. */
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
