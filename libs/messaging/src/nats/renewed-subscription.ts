/** A subscription that renews itself: the server ends one that it does not permit, and may permit it later. */

import type { LinkSubscription } from "../frames/link.ts";

export class RenewedSubscription implements LinkSubscription {
  readonly #subscribe: () => LinkSubscription;
  readonly #onEnd: (subscription: RenewedSubscription) => void;
  #current: LinkSubscription;
  #ended = false;

  constructor(subscribe: () => LinkSubscription, onEnd: (subscription: RenewedSubscription) => void) {
    this.#subscribe = subscribe;
    this.#onEnd = onEnd;
    this.#current = subscribe();
  }

  isClosed(): boolean {
    return this.#current.isClosed();
  }

  unsubscribe(): void {
    this.#end();
    if (!this.#current.isClosed()) this.#current.unsubscribe();
  }

  async drain(): Promise<void> {
    this.#end();
    if (!this.#current.isClosed()) await this.#current.drain();
  }

  /** Subscribes again if the server ended the subscription. */
  renew(): void {
    if (!this.#ended && this.#current.isClosed()) this.#current = this.#subscribe();
  }

  #end(): void {
    this.#ended = true;
    this.#onEnd(this);
  }
}
