/** Messaging over one link: requests in frames, responders in queue groups, and broadcasts. */

import { MessagingError } from "../messaging-error.ts";
import type { MessagingOptions } from "../options.ts";
import { seldom } from "../seldom.ts";
import type { FrameHandler, Lane, Messaging, ReplyItem, RequestItem, Subscription } from "../types.ts";
import { FrameServer } from "./frame-server.ts";
import type { Link, LinkSubscription } from "./link.ts";
import { ReplyWriter } from "./reply-writer.ts";
import { Requester } from "./requester.ts";

/** Size limit of a broadcast: it says only that something changed. */
const broadcastBytesMax = 64 * 1_024;

export class FramedMessaging implements Messaging {
  readonly #link: Link;
  readonly #options: MessagingOptions;
  readonly #onError: (what: string, cause: unknown) => void;
  readonly #requester: Requester;
  readonly #replies: ReplyWriter;
  readonly #servers = new Set<FrameServer>();
  #closing: Promise<void> | undefined;

  constructor(link: Link, options: MessagingOptions) {
    this.#link = link;
    this.#options = options;
    this.#onError = options.onError ?? (() => {});
    this.#requester = new Requester(link, options);
    this.#replies = new ReplyWriter(link, this.#onError);
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
    this.#options.events?.broadcastsAwaited?.(subject);
    // Limited, as a faulty publisher may send invalid messages without end.
    const tell = seldom((what: string, cause: unknown) => this.#onError(what, cause));
    const subscription = this.#link.subscribe(subject, ({ data }) => {
      let payload: unknown;
      try {
        if (data.length > broadcastBytesMax) throw new RangeError(`${data.length} bytes, at most ${broadcastBytesMax} are read`);
        payload = JSON.parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString());
      } catch (cause) {
        this.#options.events?.broadcastRefused?.(subject);
        tell(`a broadcast on ${subject} is not JSON, or too long; further ones are only counted for a minute`, cause);
        return;
      }
      try {
        listener(payload);
      } catch (cause) {
        tell(`a listener of ${subject} failed`, cause);
      }
    });
    return { stop: async () => unsubscribe(subscription) };
  }

  watchConnection(listener: (up: boolean) => void): Subscription {
    const unwatch = this.#link.watch(listener);
    listener(this.#link.up);
    return { stop: async () => unwatch() };
  }

  probe(msMax: number): Promise<boolean> {
    return this.#link.probe(msMax);
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

function unsubscribe(subscription: LinkSubscription): void {
  if (!subscription.isClosed()) subscription.unsubscribe();
}
