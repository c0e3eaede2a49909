/** Messaging inside one process: the same frames, bounds and failures as over the network, without encoding anything. */

import { Deadlines } from "./deadlines.ts";
import { MessagingError, type MessagingErrorCode } from "./messaging-error.ts";
import type { FrameHandler, Lane, Messaging, ReplyItem, RequestItem, Subscription } from "./types.ts";

/** Items of one frame. */
export const frameItemsMax: Readonly<Record<Lane, number>> = { single: 64, batch: 256 };

/** Unanswered items of one service and lane; one more is `overloaded`. */
export const queuedItemsMax = 4_096;

export interface InProcessOptions {
  readonly queuedItemsMax?: number;
  /** Told of what no caller can be told: a listener that threw, a handler that failed. */
  readonly onError?: (what: string, cause: unknown) => void;
}

interface Pending {
  readonly item: RequestItem;
  readonly queue: Queue;
  readonly resolve: (reply: ReplyItem) => void;
  readonly reject: (error: MessagingError) => void;
  /** Who holds it; null while it waits. */
  responder: Responder | null;
  settled: boolean;
}

/** Requests of one service and lane. */
interface Queue {
  readonly service: string;
  readonly lane: Lane;
  waiting: Pending[];
  /** Waiting and sent. */
  unanswered: number;
}

interface Responder {
  readonly handler: FrameHandler;
  /** Items that it holds. */
  unanswered: number;
  onDrained: (() => void) | null;
}

interface Service {
  readonly queues: Readonly<Record<Lane, Queue>>;
  readonly responders: Responder[];
  /** Whose turn is the next frame. */
  turn: number;
}

/** Creates a bus of its own. Payloads travel by reference. */
export function createInProcessMessaging(options: InProcessOptions = {}): Messaging {
  return new InProcessMessaging(options);
}

class InProcessMessaging implements Messaging {
  readonly #queuedItemsMax: number;
  readonly #onError: (what: string, cause: unknown) => void;
  readonly #services = new Map<string, Service>();
  readonly #listeners = new Map<string, Set<(payload: unknown) => void>>();
  readonly #deadlines = new Deadlines<Pending>((pending) => this.#fail(pending, "timeout"));
  #flushScheduled = false;
  #unanswered = 0;
  #closing: Promise<void> | undefined;
  #onDrained: (() => void) | null = null;

  constructor(options: InProcessOptions) {
    this.#queuedItemsMax = options.queuedItemsMax ?? queuedItemsMax;
    this.#onError = options.onError ?? (() => {});
  }

  request(service: string, lane: Lane, item: RequestItem): Promise<ReplyItem> {
    if (this.#closing !== undefined) return Promise.reject(new MessagingError("closed", service));
    const { queues, responders } = this.#service(service);
    if (responders.length === 0) return Promise.reject(new MessagingError("no_responders", service));
    const queue = queues[lane];
    if (queue.unanswered >= this.#queuedItemsMax) return Promise.reject(new MessagingError("overloaded", service));

    return new Promise((resolve, reject) => {
      const pending: Pending = { item, queue, resolve, reject, responder: null, settled: false };
      queue.waiting.push(pending);
      queue.unanswered += 1;
      this.#unanswered += 1;
      this.#deadlines.add(pending, item.budgetMs);
      this.#scheduleFlush();
    });
  }

  async serve(service: string, handler: FrameHandler): Promise<Subscription> {
    if (this.#closing !== undefined) throw new MessagingError("closed", service);
    const { responders } = this.#service(service);
    const responder: Responder = { handler, unanswered: 0, onDrained: null };
    responders.push(responder);
    const stop = async () => {
      // Over the network what is queued now may have left for this responder: it goes out first.
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
      // Listeners never run inside their publisher's call, as over the network.
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
    // A function of its own, so that one listener may subscribe twice.
    const own = (payload: unknown) => listener(payload);
    const listeners = this.#listeners.get(subject) ?? new Set();
    this.#listeners.set(subject, listeners.add(own));
    return {
      stop: async () => {
        listeners.delete(own);
      },
    };
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
    const queue = (lane: Lane): Queue => ({ service: name, lane, waiting: [], unanswered: 0 });
    const service: Service = { queues: { single: queue("single"), batch: queue("batch") }, responders: [], turn: 0 };
    this.#services.set(name, service);
    return service;
  }

  /** Everything asked in the I/O callbacks of this turn shares frames. */
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
    const size = frameItemsMax[queue.lane];
    for (let start = 0; start < waiting.length; start += size) this.#sendFrame(service, waiting.slice(start, start + size));
  }

  #sendFrame(service: Service, frame: readonly Pending[]): void {
    const responder = service.responders[service.turn % service.responders.length];
    service.turn += 1;
    if (responder === undefined) {
      for (const pending of frame) this.#fail(pending, "no_responders");
      return;
    }
    responder.unanswered += frame.length;
    for (const pending of frame) pending.responder = responder;

    const answer = (index: number, reply: ReplyItem) => {
      const pending = frame[index];
      if (pending !== undefined && this.#settle(pending)) pending.resolve(reply);
    };
    const failRest = (cause: unknown) => {
      this.#onError("a frame handler failed", cause);
      for (const pending of frame) this.#fail(pending, "handler_failed", cause);
    };
    try {
      responder.handler({ items: frame.map((pending) => pending.item), pinnedSnapshot: null }, answer)?.catch(failRest);
    } catch (cause) {
      failRest(cause);
    }
  }

  #fail(pending: Pending, code: MessagingErrorCode, cause?: unknown): void {
    if (!this.#settle(pending)) return;
    pending.reject(new MessagingError(code, pending.queue.service, cause === undefined ? undefined : { cause }));
  }

  /** False when it was settled before: an answer after its time-out, or a second one, is dropped. */
  #settle(pending: Pending): boolean {
    if (pending.settled) return false;
    pending.settled = true;
    this.#deadlines.remove(pending);
    pending.queue.unanswered -= 1;
    this.#unanswered -= 1;
    if (this.#unanswered === 0) this.#onDrained?.();
    const { responder } = pending;
    if (responder !== null) {
      responder.unanswered -= 1;
      if (responder.unanswered === 0) responder.onDrained?.();
    }
    return true;
  }
}

function drained(responder: Responder): Promise<void> {
  return new Promise((resolve) => {
    responder.onDrained = resolve;
  });
}
