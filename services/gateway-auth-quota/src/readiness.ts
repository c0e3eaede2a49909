/** Readiness of a gateway: it is connected to NATS, and a service that needs data has answered it once. */

import { encodeQuestion, type OperationName } from "@netfacts/contracts";
import type { Messaging, Subscription } from "@netfacts/messaging";

export interface ReadinessDeps {
  readonly messaging: Pick<Messaging, "request" | "watchConnection">;
  /** Interval of requests until a service has answered, in ms. */
  readonly askMs: number;
  /** Called once, at the first answer. */
  readonly onAnswered: () => void;
}

/** A simple question to each service that subscribes when it has data. Any reply is enough. */
const asked: readonly { readonly service: string; readonly op: OperationName; readonly query: string }[] = [
  { service: "ip-routing", op: "status", query: encodeQuestion("status", {}) },
  {
    service: "asn-prefix",
    op: "asn",
    query: encodeQuestion("asn", { asn: 0, family: null, rpki: null, aggregate: false, limit: 1 }),
  },
];

export class Readiness {
  readonly #messaging: ReadinessDeps["messaging"];
  readonly #connection: Subscription;
  readonly #timer: NodeJS.Timeout;
  readonly #askMs: number;
  readonly #onAnswered: () => void;
  /** Stays true when services stop later: else all gateways would be unready at once, and callers would get no reason. */
  #hasAnswered = false;
  readonly #asking = new Set<(typeof asked)[number]>();
  #isConnected = false;

  constructor({ messaging, askMs, onAnswered }: ReadinessDeps) {
    this.#messaging = messaging;
    this.#askMs = askMs;
    this.#onAnswered = onAnswered;
    this.#connection = messaging.watchConnection((up) => {
      this.#isConnected = up;
    });
    this.#timer = setInterval(() => this.#ask(), askMs).unref();
    this.#ask();
  }

  get isReady(): boolean {
    return this.#isConnected && this.#hasAnswered;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#connection.stop();
  }

  #ask(): void {
    if (!this.#isConnected) return;
    for (const one of asked) {
      if (this.#asking.has(one)) continue;
      this.#asking.add(one);
      const { service, op, query } = one;
      const item = { op, query, requestId: "readiness", traceparent: null, budgetMs: Math.max(1_000, this.#askMs), mayFail: true };
      this.#messaging
        .request(service, "single", item)
        // A failure means that no pod serves it yet.
        .then(
          () => this.#answered(),
          () => {},
        )
        .finally(() => this.#asking.delete(one));
    }
  }

  #answered(): void {
    if (!this.#hasAnswered) this.#onAnswered();
    this.#hasAnswered = true;
    clearInterval(this.#timer);
  }
}
