/**
 * Once the limits of a key are used up, refused requests cost the key nothing, but cost the gateway as much as others. A number of them per
 * second is answered at once. Beyond that all requests of the key are held back, until enough of them succeed.
 */

import type { IncomingMessage } from "node:http";
import { parseKeyText } from "@netfacts/keys";
import { TokenBuckets } from "./token-buckets.ts";

const bearer = /^bearer +([^ ]+) *$/i;

export class RefusalGate {
  /** Buckets by the id of the key. */
  readonly #buckets: TokenBuckets;

  /**
   * @param perSecondMax refused requests per second of one key; bursts may have twice as many.
   * @param now          clock in ms; default: `performance.now()`.
   */
  constructor(perSecondMax: number, now?: () => number) {
    this.#buckets = new TokenBuckets(perSecondMax, now);
  }

  /** The id of the key if too many of its requests were refused; null: the request may pass. Does not check the secret. */
  judge(request: IncomingMessage): string | null {
    if (this.#buckets.isUnused) return null;
    const id = keyIdOf(request);
    return id === null || this.#buckets.tokens(id) >= 1 ? null : id;
  }

  /** Call when a request with a valid key was answered. A refusal (4xx) takes a token, a success gives one back, and a 5xx does neither. */
  ended(request: IncomingMessage, status: number): void {
    const isRefused = status >= 400;
    if (status >= 500 || (!isRefused && this.#buckets.isUnused)) return;
    const id = keyIdOf(request);
    if (id === null) return;
    if (isRefused) this.#buckets.take(id);
    else this.#buckets.giveBack(id);
  }
}

function keyIdOf({ headers: { authorization = "" } }: IncomingMessage): string | null {
  const token = bearer.exec(authorization)?.[1];
  return token === undefined ? null : (parseKeyText(token)?.id ?? null);
}
