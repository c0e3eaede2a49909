/** Whether a gateway can answer: it is connected to NATS, and a service that needs data has answered it. */

import { encodeQuestion, type OperationName } from "@netfacts/contracts";
import type { Messaging, Subscription } from "@netfacts/messaging";

export interface ReadinessDeps {
  readonly messaging: Pick<Messaging, "request" | "watchConnection">;
  /** Interval of questions until a service has answered, in ms. */
  readonly askMs: number;
  /** Called once, with the first answer. */
  readonly onAnswered: () => void;
}

/** A plain question to each service that subscribes once it has data. Any reply will do. */
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
  /** Stays so when services end later: all gateways would be unready at once, and none would tell callers why. */
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
        // Nobody serves it yet.
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
