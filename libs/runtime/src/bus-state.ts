/** What a process says about its connection to NATS, in its log and at `/readyz`: each reason once, until it changes. */

import type { Refusal, Waiting } from "@netfacts/messaging/nats";
import type { Logger } from "./logger.ts";
import type { ServiceFrame } from "./service.ts";

export class BusState {
  readonly #log: Logger;
  readonly #explain: ServiceFrame<unknown>["explain"];
  /** By server, the latest that was told. */
  readonly #reasons = new Map<string, string>();

  constructor(log: Logger, explain: ServiceFrame<unknown>["explain"]) {
    this.#log = log;
    this.#explain = explain;
  }

  /** No server has been reached so far. */
  begins(): void {
    this.#explain("nats", "no connection to NATS yet");
  }

  refused({ server, reason }: Refusal): void {
    if (this.#reasons.get(server) === reason) return;
    this.#reasons.set(server, reason);
    this.#log.warn({ server, reason }, `no connection to NATS: ${reason}`);
    this.#explain("nats", `no connection to NATS: ${[...this.#reasons.values()].join("; ")}`);
  }

  waits({ servers, waitedMs, reasons }: Waiting): void {
    this.#log.warn({ servers, waited_ms: waitedMs, reasons }, "NATS is unavailable; the service starts when it becomes available");
  }

  changed(up: boolean): void {
    this.#reasons.clear();
    if (up) this.#explain("nats rights", null);
    this.#explain("nats", up ? null : "the connection to NATS was lost");
    if (up) this.#log.info("connected to NATS");
    else this.#log.warn("connection to NATS lost; reconnecting until it succeeds. Check that the servers in NATS_URL can be reached");
  }

  /** The server has rights for this user that lack a subject. */
  notPermitted(text: string): void {
    this.#explain("nats rights", text);
  }
}
