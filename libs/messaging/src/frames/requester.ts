/** The asking side: puts items into frames, bounds them, retries each once, and brings every answer to its asker. */

import { snapshotNumberOf } from "@netfacts/contracts";
import { notYetRetriesMax, queuedItemsMax } from "../bounds.ts";
import { Deadlines } from "../deadlines.ts";
import { MessagingError, type MessagingErrorCode } from "../messaging-error.ts";
import type { MessagingOptions, RetryReason } from "../options.ts";
import { problemReply } from "../problem-reply.ts";
import type { Lane, ReplyItem, RequestItem } from "../types.ts";
import {
  decodeReplyFrame,
  encodeRequestFrame,
  type FailedFrame,
  FrameSyntaxError,
  headerBytes,
  type ReplyFrame,
  type ReplyPart,
  requestItemBytes,
} from "./frame-codec/index.ts";
import type { Link, Message } from "./link.ts";
import { frameBytesMax, olderFramesMs, type Pending, RequestQueue } from "./request-queue.ts";
import { SentFrame } from "./sent-frame.ts";
import { requestSubject } from "./subjects.ts";

/** How long an item waits for the connection to come back. */
export const connectionWaitMs = 250;

export class Requester {
  readonly #link: Link;
  readonly #options: MessagingOptions;
  readonly #inbox: string;
  /** By service. */
  readonly #queues = new Map<string, Readonly<Record<Lane, RequestQueue>>>();
  readonly #frames = new Map<number, SentFrame>();
  readonly #deadlines = new Deadlines<Pending>((pending) => this.#expire(pending));
  #nextFrameId = 1;
  #nextItemId = 1;
  #unanswered = 0;
  #flushScheduled = false;
  #closed = false;
  #onDrained: (() => void) | null = null;
  /** The last snapshot that was seen to be one that can travel. */
  #pinnable: string | null = null;

  constructor(link: Link, options: MessagingOptions) {
    this.#link = link;
    this.#options = options;
    this.#inbox = link.newInbox();
    link.subscribe(`${this.#inbox}.*`, (message, unserved) => this.#receive(message, unserved));
    link.onPublishRefused = (subject) => this.#publishRefused(subject);
    link.watch((up) => this.#connectionChanged(up));
  }

  request(service: string, lane: Lane, item: RequestItem, pinnedSnapshot: string | null): Promise<ReplyItem> {
    if (this.#closed) return this.#refuse("closed", service, lane);
    const queue = this.#queue(service, lane);
    let bytes: number;
    try {
      bytes = requestItemBytes(item);
      if (headerBytes + bytes > frameBytesMax) throw new RangeError("an item must fit into a frame");
      // All of a batch name the same one.
      if (pinnedSnapshot !== null && pinnedSnapshot !== this.#pinnable) {
        snapshotNumberOf(pinnedSnapshot);
        this.#pinnable = pinnedSnapshot;
      }
    } catch (cause) {
      return this.#refuse("invalid_item", service, lane, cause);
    }
    const share = queue.shares.enter(item.caller ?? "", this.#options.queuedItemsMax ?? queuedItemsMax);
    if (share === null) return this.#refuse("overloaded", service, lane);
    return new Promise((resolve, reject) => {
      const { budgetMs } = item;
      const now = performance.now();
      const pending: Pending = {
        id: 0,
        item,
        pinnedSnapshot,
        bytes,
        queue,
        share,
        resolve,
        reject,
        endsAt: now + budgetMs,
        budgetMs,
        state: "waiting",
        current: null,
        earlier: null,
        retried: false,
        notYetRetries: 0,
        bucket: null,
      };
      this.#unanswered += 1;
      this.#enqueue(pending, now);
    });
  }

  /** Refuses new requests; resolves when those under way have ended, by their budget at the latest. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#unanswered === 0) return;
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
  }

  #queue(service: string, lane: Lane): RequestQueue {
    let queues = this.#queues.get(service);
    if (queues === undefined) {
      const queue = (of: Lane) => new RequestQueue(service, of);
      queues = { single: queue("single"), batch: queue("batch") };
      this.#queues.set(service, queues);
    }
    return queues[lane];
  }

  *#allQueues(): Generator<RequestQueue> {
    for (const { single, batch } of this.#queues.values()) {
      yield single;
      yield batch;
    }
  }

  #enqueue(pending: Pending, now: number): void {
    if (pending.state === "sent") pending.queue.arrived(pending);
    pending.state = "waiting";
    pending.queue.add(pending);
    this.#watchTime(pending, now);
    this.#scheduleFlush();
  }

  /** Everything asked in the I/O callbacks of this turn shares frames. */
  #scheduleFlush(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => {
      this.#flushScheduled = false;
      if (!this.#link.up) return;
      for (const queue of this.#allQueues()) {
        while (this.#send(queue));
      }
    });
  }

  /** @returns whether there was something that may be sent now. */
  #send(queue: RequestQueue): boolean {
    const items = queue.take(Math.min(frameBytesMax, this.#link.messageBytesMax));
    if (items.length === 0) return false;
    const now = performance.now();
    const version = queue.version(now);
    const frame = new SentFrame(version, this.#nextFrameId, this.#nextItemId, queue, items);
    this.#nextFrameId = (this.#nextFrameId + 1) >>> 0;
    this.#nextItemId = (this.#nextItemId + items.length) >>> 0;
    this.#frames.set(frame.id, frame);
    queue.framesInFlight += 1;
    this.#tellInFlight(queue);

    let bytes = headerBytes;
    for (const [index, pending] of items.entries()) {
      pending.id = (frame.firstItemId + index) >>> 0;
      pending.state = "sent";
      pending.current = frame;
      pending.budgetMs = pending.endsAt - now;
      bytes += pending.bytes;
    }
    const message = encodeRequestFrame(version, frame.id, items[0]?.pinnedSnapshot ?? null, items, bytes);
    const subject = requestSubject(queue.service, queue.lane, version);
    if (this.#link.publish(subject, message, `${this.#inbox}.${frame.id}`))
      this.#options.events?.frameSent?.(queue.service, queue.lane, items.length, bytes);
    else for (const pending of items) this.#fail(pending, "not_connected");
    return true;
  }

  #receive(message: Message, unserved: boolean): void {
    const frame = this.#frames.get(Number(message.subject.slice(this.#inbox.length + 1)));
    if (unserved) {
      if (frame?.version === 2) this.#askInOlderFrame(frame, performance.now() + olderFramesMs);
      else if (frame !== undefined) this.#giveUp(frame, "no_responders");
      return;
    }
    let reply: ReplyFrame | FailedFrame;
    try {
      reply = decodeReplyFrame(message.data);
      if (frame !== undefined && !("failed" in reply) && reply.frameId !== frame.id)
        throw new FrameSyntaxError("the id of another frame", 6);
    } catch (cause) {
      this.#options.events?.repliesDropped?.("undecodable", 1);
      if (frame !== undefined) this.#giveUp(frame, "handler_failed", cause);
      return;
    }
    if ("failed" in reply) {
      if (frame !== undefined) this.#giveUp(frame, "handler_failed", new Error("the responder failed the frame"));
    } else if (frame === undefined) this.#options.events?.repliesDropped?.("late", reply.parts.length);
    else for (const part of reply.parts) this.#answer(frame, part);
  }

  #answer(frame: SentFrame, part: ReplyPart): void {
    const pending = frame.item(part.id);
    if (pending === undefined || (pending.current !== frame && pending.earlier !== frame)) {
      this.#options.events?.repliesDropped?.(pending === undefined ? "unknown" : "late", 1);
      return;
    }
    const joined = part.kind === "not_yet" ? part.kind : frame.join(part);
    if (joined === "more") return;
    if (joined === "not_yet") this.#askElsewhere(frame, pending);
    else if (joined !== "broken") this.#resolve(pending, joined);
    else if (pending.current === frame && !pending.retried) this.#retry(pending, "broken");
    else this.#giveUpItem(frame, pending, "handler_failed", new Error("the reply was interrupted"));
  }

  /** Responders are met at random: the next one may have the snapshot, or this one by then. */
  #askElsewhere(frame: SentFrame, pending: Pending): void {
    if (pending.earlier === frame) {
      this.#forget(frame, pending);
      return;
    }
    pending.notYetRetries += 1;
    if (pending.notYetRetries > notYetRetriesMax) this.#resolve(pending, problemReply({ code: "data_not_ready" }));
    else this.#retry(pending, "not_yet");
  }

  /** Pods of an earlier release do not serve version 2: nothing is lost, and it does not count as a retry. */
  #askInOlderFrame(frame: SentFrame, until: number): void {
    const now = performance.now();
    frame.queue.useOlder(until);
    for (const pending of frame.items) {
      const isAskedHere = pending.current === frame;
      this.#forget(frame, pending);
      if (isAskedHere) this.#enqueue(pending, now);
    }
  }

  #giveUp(frame: SentFrame, code: MessagingErrorCode, cause?: unknown): void {
    for (const pending of frame.items) {
      if (pending.current === frame && code === "no_responders" && !pending.retried) this.#retry(pending, code);
      else this.#giveUpItem(frame, pending, code, cause);
    }
  }

  /** No answer comes from this frame; another that has the item may still answer it. */
  #giveUpItem(frame: SentFrame, pending: Pending, code: MessagingErrorCode, cause?: unknown): void {
    if (pending.current !== frame && pending.earlier !== frame) return;
    const other = pending.current === frame ? pending.earlier : pending.current;
    if (other === null && pending.state === "sent") this.#fail(pending, code, cause);
    else this.#forget(frame, pending);
  }

  #retry(pending: Pending, reason: RetryReason): void {
    const { current, queue } = pending;
    this.#options.events?.itemsRetried?.(queue.service, queue.lane, reason, 1);
    if (reason !== "not_yet") pending.retried = true;
    if (current !== null) {
      if (reason === "no_answer") {
        // With somebody else listening there, nobody tells that no pod does.
        if (current.version === 2) queue.useOlder(performance.now() + olderFramesMs);
        this.#closeSlot(current);
        pending.current = null;
        pending.earlier = current;
      } else this.#forget(current, pending);
    }
    this.#enqueue(pending, performance.now());
  }

  #forget(frame: SentFrame, pending: Pending): void {
    if (pending.current === frame) {
      pending.current = null;
      this.#closeSlot(frame);
    } else if (pending.earlier === frame) pending.earlier = null;
    else return;
    frame.awaited -= 1;
    if (frame.awaited === 0) this.#frames.delete(frame.id);
  }

  #closeSlot(frame: SentFrame): void {
    frame.open -= 1;
    if (frame.open > 0) return;
    const { queue } = frame;
    queue.framesInFlight -= 1;
    this.#tellInFlight(queue);
    if (queue.isWaiting) this.#scheduleFlush();
  }

  /** Sets when to look at it next. */
  #watchTime(pending: Pending, now: number): void {
    const left = Math.max(0, pending.endsAt - now);
    const untilRetry = left - pending.item.budgetMs / 2;
    let ms = !pending.retried && untilRetry > 0 ? untilRetry : left;
    if (pending.state === "waiting" && !this.#link.up) ms = Math.min(connectionWaitMs, left);
    this.#deadlines.remove(pending);
    this.#deadlines.add(pending, ms, now);
  }

  #expire(pending: Pending): void {
    const { state } = pending;
    const now = performance.now();
    if (state === "waiting" && !this.#link.up) this.#fail(pending, "not_connected");
    else if (now >= pending.endsAt) this.#fail(pending, "timeout");
    else if (state === "sent" && !pending.retried) this.#retry(pending, "no_answer");
    else this.#watchTime(pending, now);
  }

  /** The server does not let us publish there, as it is set up for an earlier release. */
  #publishRefused(subject: string): void {
    for (const frame of this.#frames.values()) {
      const { version, queue } = frame;
      if (version === 2 && requestSubject(queue.service, queue.lane, version) === subject)
        this.#askInOlderFrame(frame, Number.POSITIVE_INFINITY);
    }
  }

  #connectionChanged(up: boolean): void {
    const now = performance.now();
    // Others may be there now, and the server may let us do more.
    if (up) for (const queue of this.#allQueues()) queue.useOlder(0);
    if (up) this.#scheduleFlush();
    else for (const queue of this.#allQueues()) for (const pending of queue.waiting()) this.#watchTime(pending, now);
  }

  #resolve(pending: Pending, reply: ReplyItem): void {
    this.#settle(pending);
    pending.resolve(reply);
  }

  #fail(pending: Pending, code: MessagingErrorCode, cause?: unknown): void {
    const { service, lane } = pending.queue;
    this.#settle(pending);
    this.#options.events?.requestFailed?.(service, lane, code);
    pending.reject(new MessagingError(code, service, cause === undefined ? undefined : { cause }));
  }

  #refuse(code: MessagingErrorCode, service: string, lane: Lane, cause?: unknown): Promise<never> {
    this.#options.events?.requestFailed?.(service, lane, code);
    return Promise.reject(new MessagingError(code, service, cause === undefined ? undefined : { cause }));
  }

  #settle(pending: Pending): void {
    const { queue, state } = pending;
    if (state === "waiting") queue.remove(pending);
    else queue.arrived(pending);
    pending.state = "settled";
    this.#deadlines.remove(pending);
    if (pending.current !== null) this.#forget(pending.current, pending);
    if (pending.earlier !== null) this.#forget(pending.earlier, pending);
    queue.shares.leave(pending.share);
    this.#unanswered -= 1;
    // Its caller may have had as much under way as may be.
    if (queue.isWaiting) this.#scheduleFlush();
    if (this.#unanswered === 0) this.#onDrained?.();
  }

  #tellInFlight({ service, lane, framesInFlight }: RequestQueue): void {
    this.#options.events?.framesInFlight?.(service, lane, framesInFlight);
  }
}
