/** Messaging inside one process: the same frames, limits and failures as over the network, without encoding. */

import { frameItemsMax, isCostly, notYetRetriesMax, queuedItemsMax } from "./bounds.ts";
import { Deadlines, type Watched } from "./deadlines.ts";
import { MessagingError, type MessagingErrorCode } from "./messaging-error.ts";
import type { MessagingEvents, MessagingOptions } from "./options.ts";
import { problemReply } from "./problem-reply.ts";
import { type Share, Shares } from "./shares.ts";
import { traced } from "./traced-messaging.ts";
import type { Answer, FrameHandler, Lane, Messaging, ReplyItem, RequestItem, Subscription } from "./types.ts";
import { withWholeBody } from "./whole-body.ts";

interface Pending extends Watched {
  readonly item: RequestItem;
  readonly pinnedSnapshot: string | null;
  readonly queue: Queue;
  readonly share: Share;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
  readonly resolve: (reply: ReplyItem) => void;
  readonly reject: (error: MessagingError) => void;
  /** The responder that has it; null while it waits. */
  responder: Responder | null;
  /** Number of retries because a responder lacked the snapshot. */
  notYetRetries: number;
  settled: boolean;
}

/** Requests of one service and lane. */
interface Queue {
  readonly service: string;
  readonly lane: Lane;
  waiting: Pending[];
  /** Shares of all items that wait or were sent. */
  readonly shares: Shares;
}

interface Responder {
  readonly handler: FrameHandler;
  /** Number of items that it has not answered. */
  unanswered: number;
  onDrained: (() => void) | null;
}

interface Service {
  readonly queues: Readonly<Record<Lane, Queue>>;
  readonly responders: Responder[];
  /** Index of the responder that gets the next frame. */
  turn: number;
}

/** Creates a separate bus. Payloads are passed by reference. */
export function createInProcessMessaging(options: MessagingOptions = {}): Messaging {
  const messaging = new InProcessMessaging(options);
  return options.tracing == null ? messaging : traced(messaging, options.tracing);
}

class InProcessMessaging implements Messaging {
  readonly #queuedItemsMax: number;
  readonly #onError: (what: string, cause: unknown) => void;
  readonly #events: MessagingEvents;
  readonly #services = new Map<string, Service>();
  readonly #listeners = new Map<string, Set<(payload: unknown) => void>>();
  readonly #deadlines = new Deadlines<Pending>((pending) => this.#fail(pending, "timeout"));
  #flushScheduled = false;
  #unanswered = 0;
  #closing: Promise<void> | undefined;
  #onDrained: (() => void) | null = null;

  constructor(options: MessagingOptions) {
    this.#queuedItemsMax = options.queuedItemsMax ?? queuedItemsMax;
    this.#onError = options.onError ?? (() => {});
    this.#events = options.events ?? {};
  }

  request(service: string, lane: Lane, item: RequestItem, pinnedSnapshot: string | null = null): Promise<ReplyItem> {
    if (this.#closing !== undefined) return this.#refuse("closed", service, lane);
    const { queues, responders } = this.#service(service);
    if (responders.length === 0) return this.#refuse("no_responders", service, lane, item.mayFail);
    const queue = queues[lane];
    const share = queue.shares.enter(item.caller ?? "");
    if (share === null) return this.#refuse("overloaded", service, lane);

    const now = performance.now();
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        item,
        pinnedSnapshot,
        queue,
        share,
        endsAt: now + item.budgetMs,
        resolve,
        reject,
        responder: null,
        notYetRetries: 0,
        settled: false,
        bucket: null,
      };
      queue.waiting.push(pending);
      this.#unanswered += 1;
      this.#deadlines.add(pending, item.budgetMs, now);
      this.#scheduleFlush();
    });
  }

  async serve(service: string, handler: FrameHandler): Promise<Subscription> {
    if (this.#closing !== undefined) throw new MessagingError("closed", service);
    const { responders } = this.#service(service);
    const responder: Responder = { handler, unanswered: 0, onDrained: null };
    responders.push(responder);
    const stop = async () => {
      // Over the network, items that are queued now may already have left for this responder, so they are sent first.
      this.#flush();
      responders.splice(responders.indexOf(responder), 1);
      if (responder.unanswered > 0) await drained(responder);
    };
    let stopping: Promise<void> | undefined;
    return {
      stop: () => {
        stopping ??= stop();
        return stopping;
      },
    };
  }

  publish(subject: string, payload: unknown): void {
    const listeners = this.#listeners.get(subject) ?? [];
    for (const listener of listeners) {
      // Listeners never run inside the publisher's call, as over the network.
      queueMicrotask(() => {
        if (this.#listeners.get(subject)?.has(listener) !== true) return;
        try {
          listener(payload);
        } catch (cause) {
          this.#onError(`a listener of ${subject} failed`, cause);
        }
      });
    }
  }

  subscribe(subject: string, listener: (payload: unknown) => void): Subscription {
    // Wrapped, so that one listener may subscribe twice.
    const own = (payload: unknown) => listener(payload);
    const listeners = this.#listeners.get(subject) ?? new Set();
    this.#listeners.set(subject, listeners.add(own));
    return {
      stop: async () => {
        listeners.delete(own);
      },
    };
  }

  watchConnection(listener: (up: boolean) => void): Subscription {
    listener(true);
    return { stop: async () => {} };
  }

  async probe(): Promise<boolean> {
    return true;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#unanswered > 0) {
      await new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
    }
    this.#services.clear();
    this.#listeners.clear();
  }

  #service(name: string): Service {
    const known = this.#services.get(name);
    if (known !== undefined) return known;
    const queue = (lane: Lane): Queue => ({
      service: name,
      lane,
      waiting: [],
      shares: new Shares(this.#queuedItemsMax, "kept free"),
    });
    const service: Service = { queues: { single: queue("single"), batch: queue("batch") }, responders: [], turn: 0 };
    this.#services.set(name, service);
    return service;
  }

  /** Items that are asked in the I/O callbacks of one turn share frames. */
  #scheduleFlush(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    for (const service of this.#services.values()) {
      this.#send(service, service.queues.single);
      this.#send(service, service.queues.batch);
    }
  }

  #send(service: Service, queue: Queue): void {
    const waiting = queue.waiting.filter((pending) => !pending.settled);
    queue.waiting = [];
    // Costly requests have frames of their own, so that nothing waits for them.
    const size = frameItemsMax[queue.lane];
    for (const apart of [waiting.filter(({ item }) => !isCostly(item)), waiting.filter(({ item }) => isCostly(item))]) {
      for (const [pinned, alike] of Map.groupBy(apart, ({ pinnedSnapshot }) => pinnedSnapshot)) {
        const inTurn = callersInTurn(alike);
        for (let start = 0; start < inTurn.length; start += size)
          this.#sendFrame(service, queue, pinned, inTurn.slice(start, start + size));
      }
    }
  }

  #sendFrame(service: Service, queue: Queue, pinnedSnapshot: string | null, frame: readonly Pending[]): void {
    const responder = service.responders[service.turn % service.responders.length];
    service.turn += 1;
    if (responder === undefined) {
      for (const pending of frame) this.#fail(pending, "no_responders");
      return;
    }
    responder.unanswered += frame.length;
    for (const pending of frame) pending.responder = responder;
    this.#events.frameSent?.(queue.service, queue.lane, frame.length, 0);
    this.#events.frameServed?.(queue.service, queue.lane, frame.length);

    // A retried item belongs to its later frame, which may have the same responder.
    const open = new Set(frame.keys());
    const answer: Answer = (index, reply) => {
      const pending = frame[index];
      if (pending === undefined || !open.delete(index) || pending.settled)
        this.#events.repliesDropped?.(pending === undefined ? "unknown" : "late", 1);
      else if (reply === "not_yet") this.#askElsewhere(pending);
      else this.#resolve(pending, reply);
    };
    const failRest = (cause: unknown) => {
      this.#onError("a frame handler failed", cause);
      for (const index of open) this.#fail(frame[index] as Pending, "handler_failed", cause);
    };
    const now = performance.now();
    // As over the network: responders reserve part of the time that is left, not of the time that there was before the item waited.
    const items = frame.map(({ item, endsAt }) => ({ ...item, budgetMs: Math.max(0, endsAt - now) }));
    try {
      responder.handler({ items, pinnedSnapshot }, answer)?.catch(failRest);
    } catch (cause) {
      failRest(cause);
    }
  }

  #askElsewhere(pending: Pending): void {
    pending.notYetRetries += 1;
    if (pending.notYetRetries > notYetRetriesMax) {
      this.#resolve(pending, problemReply({ code: "data_not_ready" }));
      return;
    }
    const { queue } = pending;
    this.#events.itemsRetried?.(queue.service, queue.lane, "not_yet", 1);
    this.#leave(pending);
    queue.waiting.push(pending);
    this.#scheduleFlush();
  }

  #refuse(code: MessagingErrorCode, service: string, lane: Lane, mayFail = false): Promise<never> {
    if (!mayFail) this.#events.requestFailed?.(service, lane, code);
    return Promise.reject(new MessagingError(code, service));
  }

  #resolve(pending: Pending, reply: ReplyItem): void {
    if (this.#settle(pending)) pending.resolve(pending.queue.lane === "batch" ? reply : withWholeBody(reply));
  }

  #fail(pending: Pending, code: MessagingErrorCode, cause?: unknown): void {
    if (!this.#settle(pending)) return;
    if (pending.item.mayFail !== true) this.#events.requestFailed?.(pending.queue.service, pending.queue.lane, code);
    pending.reject(new MessagingError(code, pending.queue.service, cause === undefined ? undefined : { cause }));
  }

  /** Returns false when it was settled before: an answer after its time-out, or a second one, is dropped. */
  #settle(pending: Pending): boolean {
    if (pending.settled) return false;
    pending.settled = true;
    this.#deadlines.remove(pending);
    pending.queue.shares.leave(pending.share);
    this.#unanswered -= 1;
    if (this.#unanswered === 0) this.#onDrained?.();
    this.#leave(pending);
    return true;
  }

  /** Removes the item from its responder. */
  #leave(pending: Pending): void {
    const { responder } = pending;
    pending.responder = null;
    if (responder === null) return;
    responder.unanswered -= 1;
    if (responder.unanswered === 0) responder.onDrained?.();
  }
}

/** The first request of each caller, then the second of each, and so on. */
function callersInTurn(waiting: readonly Pending[]): readonly Pending[] {
  const lines = [...Map.groupBy(waiting, ({ share }) => share).values()];
  if (lines.length === 1) return waiting;
  const inTurn: Pending[] = [];
  for (let place = 0; inTurn.length < waiting.length; place++)
    for (const line of lines) if (place < line.length) inTurn.push(line[place] as Pending);
  return inTurn;
}

function drained(responder: Responder): Promise<void> {
  return new Promise((resolve) => {
    responder.onDrained = resolve;
  });
}
