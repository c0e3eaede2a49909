/**
 * Requests of a valid key that are refused cost it nothing once its limits are used up, and the gateway the same as others. So many of them
 * a second are answered at once; beyond that all requests of the key are late, until enough of them are answered well.
 */

import type { IncomingMessage } from "node:http";
import { parseKeyText } from "@netfacts/keys";
import { TokenBuckets } from "./token-buckets.ts";

const bearer = /^bearer +([^ ]+) *$/i;

export class RefusalGate {
  /** By the id of the key. */
  readonly #buckets: TokenBuckets;

  /**
   * @param perSecondMax refused requests of one key per second; bursts may have twice as many.
   * @param now          clock in ms; default: `performance.now()`.
   */
  constructor(perSecondMax: number, now?: () => number) {
    this.#buckets = new TokenBuckets(perSecondMax, now);
  }

  /** The id of the key, where too many of its requests were refused; null: the request may pass. The secret is not looked at. */
  judge(request: IncomingMessage): string | null {
    if (this.#buckets.isUnused) return null;
    const id = keyIdOf(request);
    return id === null || this.#buckets.tokens(id) >= 1 ? null : id;
  }

  /** A request with a valid key was answered. One that was not refused gives back what a refused one took; a 5xx does neither. */
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
