/** Messaging over NATS: requests in frames, responders in queue groups, and broadcasts, on one connection. */

import type { Subscription as NatsSubscription } from "nats";
import { MessagingError } from "../messaging-error.ts";
import type { MessagingOptions } from "../options.ts";
import { traced } from "../traced-messaging.ts";
import type { FrameHandler, Lane, Messaging, ReplyItem, RequestItem, Subscription } from "../types.ts";
import { type ConnectOptions, connect } from "./connect.ts";
import { FrameServer } from "./frame-server.ts";
import { Link } from "./link.ts";
import { ReplyWriter } from "./reply-writer.ts";
import { Requester } from "./requester.ts";

/**
 * Resolves when the connection is there, however long that takes; from then on it comes back by itself after every loss.
 *
 * @throws TypeError for a URL that is none.
 */
export async function createNatsMessaging(options: ConnectOptions & MessagingOptions): Promise<Messaging> {
  const onError = options.onError ?? (() => {});
  const link = new Link(await connect(options), { onError, events: options.events ?? {} });
  const messaging = new NatsMessaging(link, options, onError);
  return options.tracing == null ? messaging : traced(messaging, options.tracing);
}

class NatsMessaging implements Messaging {
  readonly #link: Link;
  readonly #options: MessagingOptions;
  readonly #onError: (what: string, cause: unknown) => void;
  readonly #requester: Requester;
  readonly #replies: ReplyWriter;
  readonly #servers = new Set<FrameServer>();
  #closing: Promise<void> | undefined;

  constructor(link: Link, options: MessagingOptions, onError: (what: string, cause: unknown) => void) {
    this.#link = link;
    this.#options = options;
    this.#onError = onError;
    this.#requester = new Requester(link, options);
    this.#replies = new ReplyWriter(link, onError);
  }

  request(service: string, lane: Lane, item: RequestItem, pinnedSnapshot: string | null = null): Promise<ReplyItem> {
    return this.#requester.request(service, lane, item, pinnedSnapshot);
  }

  async serve(service: string, handler: FrameHandler): Promise<Subscription> {
    if (this.#closing !== undefined) throw new MessagingError("closed", service);
    const deps = { link: this.#link, replies: this.#replies, events: this.#options.events ?? {}, onError: this.#onError };
    const server = new FrameServer({ ...deps, service, handler });
    this.#servers.add(server);
    await server.ready();
    return {
      stop: async () => {
        await server.stop();
        this.#servers.delete(server);
      },
    };
  }

  publish(subject: string, payload: unknown): void {
    if (this.#link.up && this.#closing === undefined) this.#link.publish(subject, Buffer.from(JSON.stringify(payload)));
  }

  subscribe(subject: string, listener: (payload: unknown) => void): Subscription {
    const subscription = this.#link.subscribe(subject, ({ data }) => {
      try {
        listener(JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString()));
      } catch (cause) {
        this.#onError(`a listener of ${subject} failed`, cause);
      }
    });
    return { stop: async () => unsubscribe(subscription) };
  }

  watchConnection(listener: (up: boolean) => void): Subscription {
    const unwatch = this.#link.watch(listener);
    listener(this.#link.up);
    return { stop: async () => unwatch() };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#requester.close();
    await Promise.all([...this.#servers].map((server) => server.stop()));
    await this.#link.flush();
    await this.#link.close();
  }
}

function unsubscribe(subscription: NatsSubscription): void {
  if (!subscription.isClosed()) subscription.unsubscribe();
}
