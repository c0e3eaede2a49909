/** One connection to NATS, its state, and its limits. */

import { createInbox, type NatsConnection } from "nats";
import type { Link, LinkSubscription, Receive } from "../frames/link.ts";
import type { MessageMemory } from "../frames/message-memory.ts";
import type { MessagingEvents } from "../options.ts";
import { within } from "../within.ts";
import { RenewedSubscription } from "./renewed-subscription.ts";
import { sendFrom } from "./transport.ts";

/** Code of the server's reply, without data, to a request that nobody serves. */
const noResponders = 503;
/** Size limit of reply messages, whatever the server accepts. */
const messageBytesMax = 256 * 1_024;
/** Space that is left free in the server's largest message. */
const reservedBytes = 4 * 1_024;
/** Longest wait for a flush: if it takes longer, the connection is lost or as good as lost. */
const flushMsMax = 2_000;
const renewMsDefault = 5_000;
/** Most refusals that are reported within `refusedMs`. */
const refusedMax = 10;
const refusedMs = 60_000;
const authFaults = /^(AUTHORIZATION_VIOLATION|AUTHENTICATION_EXPIRED|ACCOUNT_EXPIRED|AUTHENTICATION_TIMEOUT)$/;

export interface NatsLinkOptions {
  /** The first tokens of the subjects for answers; default: those of any connection. */
  readonly inbox?: string | undefined;
  readonly onError: (what: string, cause: unknown) => void;
  readonly events: MessagingEvents;
  /** Interval of attempts to renew subscriptions that the server has refused, in ms; default 5,000. */
  readonly renewMs?: number | undefined;
}

export class NatsLink implements Link {
  readonly #connection: NatsConnection;
  readonly #options: NatsLinkOptions;
  readonly #watchers = new Set<(up: boolean) => void>();
  readonly #subscriptions = new Set<RenewedSubscription>();
  /** Refusals that were reported in the last minute. */
  readonly #refused = new Set<string>();
  #refusedSince = performance.now();
  readonly #renewing: NodeJS.Timeout;
  #up = true;
  onPublishRefused: (subject: string) => void = () => {};

  constructor(connection: NatsConnection, options: NatsLinkOptions) {
    this.#connection = connection;
    this.#options = options;
    options.events.connection?.(true);
    void this.#follow();
    this.#renewing = setInterval(() => this.#renew(), options.renewMs ?? renewMsDefault).unref();
  }

  get up(): boolean {
    return this.#up;
  }

  get messageBytesMax(): number {
    const serverMax = this.#connection.info?.max_payload ?? messageBytesMax + reservedBytes;
    return Math.min(messageBytesMax, Math.max(serverMax - reservedBytes, reservedBytes));
  }

  newInbox(): string {
    return createInbox(this.#options.inbox);
  }

  watch(listener: (up: boolean) => void): () => void {
    this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  publish(subject: string, message: Uint8Array, replyTo?: string): boolean {
    try {
      this.#connection.publish(subject, message, replyTo === undefined ? undefined : { reply: replyTo });
      return true;
    } catch (cause) {
      this.#options.onError(`a message to ${subject} could not be sent`, cause);
      return false;
    }
  }

  publishFrom(memory: MessageMemory, bytes: number, subject: string, replyTo: string | undefined, onFree: () => void): void {
    const head = replyTo === undefined ? subject : `${subject} ${replyTo}`;
    if (sendFrom(this.#connection, memory, bytes, head, onFree)) return;
    this.publish(subject, Buffer.from(memory.message.subarray(0, bytes)), replyTo);
    onFree();
  }

  subscribe(subject: string, receive: Receive, queue?: string): LinkSubscription {
    const subscribe = () =>
      this.#connection.subscribe(subject, {
        ...(queue === undefined ? {} : { queue }),
        callback: (error, message) => {
          try {
            // `#follow` reports refusals.
            if (error !== null) return;
            receive(message, message.data.length === 0 && message.headers?.code === noResponders);
          } catch (cause) {
            // An exception here would end the reading of the connection.
            this.#options.onError(`a message on ${subject} could not be handled`, cause);
          }
        },
      });
    const subscription = new RenewedSubscription(subscribe, (ended) => this.#subscriptions.delete(ended));
    this.#subscriptions.add(subscription);
    return subscription;
  }

  #renew(): void {
    if (!this.#up || this.#connection.isClosed()) return;
    for (const subscription of this.#subscriptions) subscription.renew();
  }

  async flush(): Promise<void> {
    await this.#whileUp(flushMsMax, () => this.#connection.flush());
  }

  async probe(msMax: number): Promise<boolean> {
    let answered = false;
    const ask = async (): Promise<void> => {
      await this.#connection.rtt();
      answered = true;
    };
    // Rejects if the connection ends meanwhile.
    await this.#whileUp(msMax, () => ask().catch(() => {}));
    return answered;
  }

  async drain(subscriptions: readonly LinkSubscription[], msMax: number): Promise<void> {
    await this.#whileUp(msMax, () => Promise.allSettled(subscriptions.map((subscription) => subscription.drain())));
    // Without connection the server has ended them already: the client must not subscribe again when it reconnects.
    for (const subscription of subscriptions) if (!subscription.isClosed()) subscription.unsubscribe();
  }

  async close(): Promise<void> {
    this.#watchers.clear();
    clearInterval(this.#renewing);
    this.#subscriptions.clear();
    this.#up = false;
    await this.#connection.close();
  }

  /** Waits for the server while it can answer: not without connection, and no longer than `msMax`. */
  async #whileUp(msMax: number, ask: () => Promise<unknown>): Promise<void> {
    if (!this.#up) return;
    let unwatch = () => {};
    const down = new Promise<void>((resolve) => {
      unwatch = this.watch((up) => {
        if (!up) resolve();
      });
    });
    await within(msMax, Promise.race([ask(), down]));
    unwatch();
  }

  async #follow(): Promise<void> {
    for await (const { type, data, permissionContext } of this.#connection.status()) {
      if (type === "disconnect") this.#change(false);
      else if (type === "reconnect") this.#change(true);
      else if (type === "error") {
        // Login failures are reported by each attempt (`onRefused`).
        if (permissionContext === undefined) {
          if (!authFaults.test(String(data))) this.#options.onError("the NATS server reported an error", new Error(`${data}`));
          continue;
        }
        const { operation, subject } = permissionContext;
        this.#tellRefused(`NATS does not permit this user to ${operation === "publish" ? "publish" : "subscribe"} to ${subject}`);
        if (operation === "publish") this.onPublishRefused(subject);
      }
    }
    this.#change(false);
  }

  /** Reports a refusal, with a limit: a missing right is refused for every message, and a few lines say enough. */
  #tellRefused(text: string): void {
    const now = performance.now();
    if (now - this.#refusedSince > refusedMs) {
      this.#refused.clear();
      this.#refusedSince = now;
    }
    if (this.#refused.has(text) || this.#refused.size >= refusedMax) return;
    this.#refused.add(text);
    this.#options.onError("a right is missing at NATS", new Error(`${text}: give it the rights that docs/operations/nats.md lists`));
    this.#options.events.notPermitted?.(text);
  }

  #change(up: boolean): void {
    if (this.#up === up) return;
    if (up) this.#refused.clear();
    this.#up = up;
    this.#options.events.connection?.(up);
    for (const watcher of this.#watchers) {
      try {
        watcher(up);
      } catch (cause) {
        this.#options.onError("a listener for the connection state failed", cause);
      }
    }
  }
}
