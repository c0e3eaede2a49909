/** One connection to NATS, whether it is up, and what it can carry. */

import type { Msg, NatsConnection, Subscription } from "nats";
import type { MessagingEvents } from "../options.ts";
import type { MessageMemory } from "./message-memory.ts";

/** A reply message is never longer, whatever the server takes. */
const messageBytesMax = 256 * 1_024;
/** Left free in the server's largest message. */
const reservedBytes = 4 * 1_024;
/** A flush that takes longer is not waited for: the connection is lost or as good as lost. */
const flushMsMax = 2_000;

export interface LinkOptions {
  readonly onError: (what: string, cause: unknown) => void;
  readonly events: MessagingEvents;
}

export class Link {
  readonly #connection: NatsConnection;
  readonly #options: LinkOptions;
  readonly #watchers = new Set<(up: boolean) => void>();
  #up = true;
  /** Told of a subject that the server did not let us publish to. */
  onPublishRefused: (subject: string) => void = () => {};

  constructor(connection: NatsConnection, options: LinkOptions) {
    this.#connection = connection;
    this.#options = options;
    options.events.connection?.(true);
    void this.#follow();
  }

  /** What is published while it is not up neither throws nor arrives. */
  get up(): boolean {
    return this.#up;
  }

  /** Longest message that the server takes and that does not hold up others for long. */
  get messageBytesMax(): number {
    const serverMax = this.#connection.info?.max_payload ?? messageBytesMax + reservedBytes;
    return Math.min(messageBytesMax, Math.max(serverMax - reservedBytes, reservedBytes));
  }

  /** Calls the listener at every change from now on; returns what ends that. */
  watch(listener: (up: boolean) => void): () => void {
    this.#watchers.add(listener);
    return () => void this.#watchers.delete(listener);
  }

  /** Returns false when the message cannot leave: the connection is closed for good, or the server takes no message of this size. */
  publish(subject: string, message: Uint8Array, replyTo?: string): boolean {
    try {
      this.#connection.publish(subject, message, replyTo === undefined ? undefined : { reply: replyTo });
      return true;
    } catch (cause) {
      this.#options.onError(`a message to ${subject} could not leave`, cause);
      return false;
    }
  }

  /** As `publish`, of a message that was written into `memory`, which may be written again when `onFree` is called. */
  publishFrom(memory: MessageMemory, bytes: number, subject: string, onFree: () => void): void {
    if (memory.send(this.#connection, subject, bytes, onFree)) return;
    this.publish(subject, Buffer.from(memory.message.subarray(0, bytes)));
    onFree();
  }

  /** @param queue the messages are shared with all others of this queue group. */
  subscribe(subject: string, receive: (message: Msg) => void, queue?: string): Subscription {
    return this.#connection.subscribe(subject, {
      ...(queue === undefined ? {} : { queue }),
      callback: (error, message) => {
        try {
          if (error !== null) throw error;
          receive(message);
        } catch (cause) {
          // What is thrown in here would end the reading of the connection.
          this.#options.onError(`a message on ${subject} was not dealt with`, cause);
        }
      },
    });
  }

  /** Resolves when the server has all that was published, or when that cannot be known: at once while there is no connection. */
  async flush(): Promise<void> {
    await this.#whileUp(flushMsMax, () => this.#connection.flush());
  }

  /** Ends subscriptions; resolves when all that the server sent them has been received, within `msMax`. */
  async drain(subscriptions: readonly Subscription[], msMax: number): Promise<void> {
    await this.#whileUp(msMax, () => Promise.allSettled(subscriptions.map((subscription) => subscription.drain())));
    // Without connection the server has ended them already: the client is not to begin them anew when it is back.
    for (const subscription of subscriptions) if (!subscription.isClosed()) subscription.unsubscribe();
  }

  async close(): Promise<void> {
    this.#watchers.clear();
    this.#up = false;
    await this.#connection.close();
  }

  /** Waits for an answer of the server as long as one can come: not without connection, and no longer than `msMax`. */
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
        const about = permissionContext === undefined ? "" : ` for ${permissionContext.operation} of ${permissionContext.subject}`;
        this.#options.onError("the NATS server refused something", new Error(`${data}${about}`));
        if (permissionContext?.operation === "publish") this.onPublishRefused(permissionContext.subject);
      }
    }
    this.#change(false);
  }

  #change(up: boolean): void {
    if (this.#up === up) return;
    this.#up = up;
    this.#options.events.connection?.(up);
    for (const watcher of this.#watchers) {
      try {
        watcher(up);
      } catch (cause) {
        this.#options.onError("a watcher of the connection failed", cause);
      }
    }
  }
}

/** Waits for a promise, however it ends, but no longer than so many milliseconds. */
export async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([promise.catch(() => undefined), over]);
  clearTimeout(timer);
}
