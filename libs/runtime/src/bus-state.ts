/** Reports the state of the connection to NATS, in the log and at `/readyz`: each reason once until it changes, and once a minute while it lasts. */

import type { Refusal, Waiting } from "@netfacts/messaging/nats";
import type { Logger } from "./logger.ts";
import type { ServiceContext } from "./service.ts";

const remindMsDefault = 60_000;

export class BusState {
  readonly #log: Logger;
  readonly #explain: ServiceContext<unknown>["explain"];
  readonly #remindMs: number;
  /** Server → the last reason that was reported. */
  readonly #reasons = new Map<string, string>();
  #reminding: NodeJS.Timeout | undefined;

  /** @param remindMs  interval of log lines while a lost connection does not return. */
  constructor(log: Logger, explain: ServiceContext<unknown>["explain"], remindMs = remindMsDefault) {
    this.#log = log;
    this.#explain = explain;
    this.#remindMs = remindMs;
  }

  /** Call at the start: no server has been reached yet. */
  begins(): void {
    this.#explain("nats", "no connection to NATS yet");
  }

  refused({ server, reason }: Refusal): void {
    if (this.#reasons.get(server) === reason) return;
    this.#reasons.set(server, reason);
    this.#log.warn({ server, reason }, `no connection to NATS: ${reason}`);
    this.#explain("nats", `no connection to NATS: ${this.#reasonText()}`);
  }

  waits({ servers, waitedMs, reasons }: Waiting): void {
    this.#log.warn({ servers, waited_ms: waitedMs, reasons }, "NATS is unavailable; the service starts when it becomes available");
  }

  changed(up: boolean): void {
    this.stop();
    this.#reasons.clear();
    if (up) this.#explain("nats rights", null);
    this.#explain("nats", up ? null : "the connection to NATS was lost");
    if (up) this.#log.info("connected to NATS");
    else {
      this.#log.warn("connection to NATS lost; reconnecting until it succeeds. Check that the servers in NATS_URL can be reached");
      this.#remind();
    }
  }

  /** Call when the server's permissions of this user lack a subject. */
  notPermitted(text: string): void {
    this.#explain("nats rights", text);
  }

  /** Stops the reminders. */
  stop(): void {
    clearInterval(this.#reminding);
  }

  #remind(): void {
    const lostAt = performance.now();
    this.#reminding = setInterval(() => {
      const downMs = Math.round(performance.now() - lostAt);
      this.#log.warn({ down_ms: downMs }, `still no connection to NATS: ${this.#reasonText() || "no attempt has ended so far"}`);
    }, this.#remindMs).unref();
  }

  #reasonText(): string {
    return [...this.#reasons.values()].join("; ");
  }
}
