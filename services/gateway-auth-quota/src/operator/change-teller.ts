/** Broadcasts changes to the other gateways: at once, or when NATS is reachable again. */

import { type KeyChange, keysChangedSubject, type PlanChange } from "@netfacts/contracts";
import type { ControlChange } from "@netfacts/keys";
import type { Messaging } from "@netfacts/messaging";

/** Changes that are kept while NATS is unreachable. Further ones are dropped: the others read all keys again by then. */
const waitingMax = 10_000;

export class ChangeTeller {
  readonly #messaging: Messaging;
  readonly #waiting = new Map<string, KeyChange | PlanChange>();
  readonly #connection: { stop(): unknown };
  #up = false;

  constructor(messaging: Messaging) {
    this.#messaging = messaging;
    this.#connection = messaging.watchConnection((up) => {
      this.#up = up;
      if (up) this.#tellWaiting();
    });
  }

  tell(change: ControlChange): void {
    const message = "keyId" in change ? { key_id: change.keyId, version: change.version } : change;
    if (this.#up) this.#messaging.publish(keysChangedSubject, message);
    else if (this.#waiting.size < waitingMax) this.#waiting.set("key_id" in message ? message.key_id : `plan ${message.plan}`, message);
  }

  stop(): void {
    void this.#connection.stop();
  }

  #tellWaiting(): void {
    for (const message of this.#waiting.values()) this.#messaging.publish(keysChangedSubject, message);
    this.#waiting.clear();
  }
}
