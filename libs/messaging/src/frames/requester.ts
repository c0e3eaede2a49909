/** The requesting side: puts items into frames, limits them, retries each once, and returns every answer to its caller. */

import { snapshotNumberOf } from "@netfacts/contracts";
import { notYetRetriesMax, queuedItemsMax } from "../bounds.ts";
import { Deadlines, deadlineGranularityMs } from "../deadlines.ts";
import { MessagingError, type MessagingErrorCode } from "../messaging-error.ts";
import type { MessagingOptions, RetryReason } from "../options.ts";
import { problemReply } from "../problem-reply.ts";
import type { Lane, ReplyItem, RequestItem } from "../types.ts";
import { within } from "../within.ts";
import { Copies, type Copy, callMs } from "./copies.ts";
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
import { callSubject, requestSubject } from "./subjects.ts";

/** Time that an item waits for a lost connection to return. */
const connectionWaitMs = 250;

/** Most silent copies that one item is sent to; then it waits for its retry at half its time. */
const silencesMax = 3;

/** Number of unserved copies after which an item goes to the group: false names may appear faster than they are detected. */
const unservedMax = 2;

/** If a check of a frame is later than this, the event loop was blocked: answers may have arrived that are not read yet. */
const lateMs = 40;

/** Longest wait when closing. By then the caller's own clients have their answers; what is still in flight is for clients that went away. */
const closeMsMax = 1_000;

/** First letter of the last token of the subject for answers to a call. */
const callMark = "c";
const noBytes = new Uint8Array();

/** The queues of a service that was asked. */
interface Service extends Readonly<Record<Lane, RequestQueue>> {
  /** Used for this service only: somebody who controls another service cannot guess where its answers go. */
  readonly inbox: string;
}

export class Requester {
  readonly #link: Link;
  readonly #options: MessagingOptions;
  /** By service. */
  readonly #queues = new Map<string, Service>();
  readonly #frames = new Map<number, SentFrame>();
  readonly #deadlines = new Deadlines<Pending>((pending) => this.#expire(pending));
  readonly #looks = new Deadlines<SentFrame>((frame) => this.#look(frame));
  #calls: NodeJS.Timeout | undefined;
  #nextFrameId = 1;
  #nextItemId = 1;
  #unanswered = 0;
  #flushScheduled = false;
  #closed = false;
  #onDrained: (() => void) | null = null;
  /** The last snapshot id that was found to be encodable. */
  #pinnable: string | null = null;

  constructor(link: Link, options: MessagingOptions) {
    this.#link = link;
    this.#options = options;
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
      // Cached: all items of a batch name the same snapshot.
      if (pinnedSnapshot !== null && pinnedSnapshot !== this.#pinnable) {
        snapshotNumberOf(pinnedSnapshot);
        this.#pinnable = pinnedSnapshot;
      }
    } catch (cause) {
      return this.#refuse("invalid_item", service, lane, cause);
    }
    const share = queue.shares.enter(item.caller ?? "");
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
        unserved: 0,
        silences: 0,
        avoid: null,
        bucket: null,
      };
      this.#unanswered += 1;
      this.#enqueue(pending, now);
    });
  }

  /** Refuses new requests; resolves when those in flight have ended, or after `closeMsMax`. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#unanswered === 0) return;
    const drained = new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
    await within(closeMsMax, drained);
  }

  #queue(name: string, lane: Lane): RequestQueue {
    let service = this.#queues.get(name);
    if (service === undefined) {
      const copies = new Copies(name);
      const queue = (of: Lane) => new RequestQueue(copies, of, this.#options.queuedItemsMax ?? queuedItemsMax);
      const made = { single: queue("single"), batch: queue("batch"), inbox: this.#link.newInbox() };
      this.#link.subscribe(`${made.inbox}.*`, (message, unserved) => this.#receive(made, message, unserved));
      service = made;
      this.#queues.set(name, made);
    }
    return service[lane];
  }

  /** The inbox of a service that was asked. */
  #inbox(name: string): string {
    return this.#queues.get(name)?.inbox ?? "";
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

  /** Items that are asked in the I/O callbacks of one turn share frames. */
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

  /** @returns whether there was an item that could be sent now. */
  #send(queue: RequestQueue): boolean {
    const now = performance.now();
    const { copies } = queue;
    const trial = queue.isWaiting ? copies.trial(now) : null;
    const items = queue.take(Math.min(frameBytesMax, this.#link.messageBytesMax), trial === null ? undefined : 1);
    if (items.length === 0) return false;
    const copy = trial !== null && items[0]?.avoid === null ? trial : this.#copyFor(items, copies, now);
    const version = queue.version(now);
    const frame = new SentFrame({ version, id: this.#nextFrameId, firstItemId: this.#nextItemId, queue, items, copy, sentAt: now });
    this.#nextFrameId = (this.#nextFrameId + 1) >>> 0;
    this.#nextItemId = (this.#nextItemId + items.length) >>> 0;
    this.#frames.set(frame.id, frame);
    queue.framesInFlight += 1;
    frame.begunBy.frames += 1;
    if (frame.isCostly) queue.costlyInFlight += 1;
    copy.waiting += 1;
    this.#lookIn(copies.slowMs, frame, now);
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
    const subject = requestSubject(queue.service, queue.lane, version, copy.name);
    if (this.#link.publish(subject, message, `${this.#inbox(queue.service)}.${frame.id}`))
      this.#options.events?.frameSent?.(queue.service, queue.lane, items.length, bytes);
    else for (const pending of items) this.#fail(pending, "not_connected");
    this.#call(queue.copies, now);
    this.#calls ??= setInterval(() => this.#callAll(), callMs).unref();
    return true;
  }

  #copyFor(items: readonly Pending[], copies: Copies, now: number): Copy {
    const copy = copies.next(avoidedBy(items), now);
    return items.some(({ unserved }) => unserved >= unservedMax) ? copies.group : copy;
  }

  #receive(service: Service, message: Message, unserved: boolean): void {
    const to = message.subject.slice(service.inbox.length + 1);
    const { copies } = service.single;
    if (to.startsWith(callMark)) {
      if (!unserved) copies.heardCall(message.reply ?? "", Number(to.slice(callMark.length)), performance.now());
      return;
    }
    const found = this.#frames.get(Number(to));
    const frame = found?.queue.copies === copies ? found : undefined;
    if (unserved) {
      if (frame !== undefined && frame.copy.name !== "") {
        frame.queue.copies.gone(frame.copy);
        for (const pending of frame.items) pending.unserved += 1;
        this.#askAnew(frame);
      } else if (frame?.version === 2) this.#askInOlderFrame(frame, performance.now() + olderFramesMs);
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
      if (frame !== undefined) this.#distrust(frame, cause);
      return;
    }
    if ("failed" in reply) {
      if (frame !== undefined) this.#giveUp(frame, "handler_failed", new Error("the responder failed the frame"));
    } else if (frame === undefined) this.#options.events?.repliesDropped?.("late", reply.parts.length);
    else {
      const now = performance.now();
      frame.queue.copies.heardAnswer(frame.copy, message.reply, frame.isAnswered ? null : now - frame.sentAt, now);
      frame.isAnswered = true;
      for (const part of reply.parts) this.#answer(frame, part);
    }
  }

  /** Calls all copies of the services in use, to detect silent ones. */
  #callAll(): void {
    const now = performance.now();
    let goesOn = false;
    for (const { single } of this.#queues.values()) {
      this.#call(single.copies, now);
      goesOn ||= single.copies.isUsed(now);
    }
    if (goesOn && !(this.#closed && this.#unanswered === 0)) return;
    clearInterval(this.#calls);
    this.#calls = undefined;
  }

  #call(copies: Copies, now: number): void {
    const queues = this.#queues.get(copies.service);
    const waits = queues !== undefined && queues.single.framesInFlight + queues.batch.framesInFlight > 0;
    if (!this.#link.up || !copies.isCallDue(now, waits)) return;
    this.#link.publish(callSubject(copies.service), noBytes, `${this.#inbox(copies.service)}.${callMark}${Math.round(now)}`);
  }

  /** Checks a frame that waits longer than usual: its items go to another copy if this one is silent or slow. */
  #look(frame: SentFrame): void {
    if (frame.open === 0) return;
    const now = performance.now();
    const { copies } = frame.queue;
    // If this process was busy, it did not read answers either.
    const isLate = now - frame.lookAt > lateMs;
    if (!isLate && !frame.isAnswered && !frame.isMissed) {
      frame.isMissed = true;
      copies.miss(frame.copy, now);
    }
    const verdict = isLate || !this.#link.up ? "well" : copies.judge(frame.copy, frame.sentAt, now);
    if (verdict !== "well") {
      for (const pending of frame.items) {
        if (pending.current !== frame) continue;
        if (verdict === "silent" ? pending.silences < silencesMax : !pending.retried) this.#retry(pending, verdict);
      }
    }
    if (frame.open > 0) this.#lookIn(deadlineGranularityMs, frame, now);
  }

  #lookIn(ms: number, frame: SentFrame, now: number): void {
    frame.lookAt = now + ms;
    this.#looks.add(frame, ms, now);
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
    else if (joined !== "broken" && isForeign(joined, pending)) {
      this.#options.events?.repliesDropped?.("undecodable", 1);
      this.#distrust(frame, new Error(`the reply is of snapshot ${joined.snapshotId}, not of ${pending.pinnedSnapshot}`));
    } else if (joined !== "broken") this.#resolve(pending, joined);
    else if (pending.current === frame && !pending.retried) this.#retry(pending, "broken");
    else this.#giveUpItem(frame, pending, "handler_failed", new Error("the reply was interrupted"));
  }

  /** Asks again, as each try reaches a random responder: another may have the snapshot, or the same one by then. */
  #askElsewhere(frame: SentFrame, pending: Pending): void {
    if (pending.earlier === frame) {
      this.#forget(frame, pending);
      return;
    }
    pending.notYetRetries += 1;
    if (pending.notYetRetries > notYetRetriesMax) this.#resolve(pending, problemReply({ code: "data_not_ready" }));
    else this.#retry(pending, "not_yet");
  }

  /** Pods of an earlier release do not serve version 2. Nothing is lost, and it does not count as a retry. */
  #askInOlderFrame(frame: SentFrame, until: number): void {
    frame.queue.useOlder(until);
    this.#askAnew(frame);
  }

  /** Sends the items again: nobody has received the frame. */
  #askAnew(frame: SentFrame): void {
    const now = performance.now();
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

  /** A healthy copy cannot have sent this answer to the frame: leaves the copy out, and retries the missing items once with another one. */
  #distrust(frame: SentFrame, cause: unknown): void {
    frame.queue.copies.leaveOut(frame.copy, performance.now());
    for (const pending of frame.items) {
      if (pending.current === frame && !pending.retried) this.#retry(pending, "broken");
      else this.#giveUpItem(frame, pending, "handler_failed", cause);
    }
  }

  /** Call when no answer comes from this frame. If the item is in another frame, that one may still answer it. */
  #giveUpItem(frame: SentFrame, pending: Pending, code: MessagingErrorCode, cause?: unknown): void {
    if (pending.current !== frame && pending.earlier !== frame) return;
    const other = pending.current === frame ? pending.earlier : pending.current;
    if (other === null && pending.state === "sent") this.#fail(pending, code, cause);
    else this.#forget(frame, pending);
  }

  #retry(pending: Pending, reason: RetryReason): void {
    const { current, queue } = pending;
    this.#options.events?.itemsRetried?.(queue.service, queue.lane, reason, 1);
    if (reason === "silent") pending.silences += 1;
    else if (reason !== "not_yet") pending.retried = true;
    if (current !== null) {
      pending.avoid = current.copy;
      if (reason === "no_answer" || reason === "silent" || reason === "slow") {
        // If anybody else listens on the subject, the broker does not report that no pod serves version 2.
        if (reason === "no_answer" && current.version === 2 && current.copy.name === "") queue.useOlder(performance.now() + olderFramesMs);
        if (pending.earlier !== null) this.#forget(pending.earlier, pending);
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
    const { queue, copy } = frame;
    this.#looks.remove(frame);
    copy.waiting -= 1;
    queue.framesInFlight -= 1;
    frame.begunBy.frames -= 1;
    if (frame.isCostly) queue.costlyInFlight -= 1;
    this.#tellInFlight(queue);
    if (queue.isWaiting) this.#scheduleFlush();
  }

  /** Sets the time of the item's next check. */
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

  /** The server does not allow publishing there, as its permissions are for an earlier release. */
  #publishRefused(subject: string): void {
    for (const { single } of this.#queues.values()) if (subject === callSubject(single.service)) single.copies.refused(performance.now());
    for (const frame of this.#frames.values()) {
      const { version, queue, copy } = frame;
      if (copy.name !== "") {
        if (requestSubject(queue.service, queue.lane, version, copy.name) !== subject) continue;
        queue.copies.refused(performance.now());
        this.#askAnew(frame);
      } else if (version === 2 && requestSubject(queue.service, queue.lane, version) === subject)
        this.#askInOlderFrame(frame, Number.POSITIVE_INFINITY);
      // The service is newer than the permissions of this user.
      else if (version === 1 && requestSubject(queue.service, queue.lane, version) === subject) this.#giveUp(frame, "no_responders");
    }
  }

  #connectionChanged(up: boolean): void {
    const now = performance.now();
    // There may be other pods now, and the server may allow more.
    if (up) {
      for (const queue of this.#allQueues()) {
        queue.useOlder(0);
        queue.copies.allowed();
      }
    }
    if (up) this.#scheduleFlush();
    else {
      // Answers that are sent now are lost.
      for (const frame of [...this.#frames.values()]) this.#askAnew(frame);
      for (const queue of this.#allQueues()) for (const pending of queue.waiting()) this.#watchTime(pending, now);
    }
  }

  #resolve(pending: Pending, reply: ReplyItem): void {
    this.#settle(pending);
    pending.resolve(reply);
  }

  #fail(pending: Pending, code: MessagingErrorCode, cause?: unknown): void {
    const { service, lane } = pending.queue;
    this.#settle(pending);
    if (pending.item.mayFail !== true) this.#options.events?.requestFailed?.(service, lane, code);
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
    // The caller may have been at its limit.
    if (queue.isWaiting) this.#scheduleFlush();
    if (this.#unanswered === 0) this.#onDrained?.();
  }

  #tellInFlight({ service, lane, framesInFlight }: RequestQueue): void {
    this.#options.events?.framesInFlight?.(service, lane, framesInFlight);
  }
}

/** Whether a record comes from another snapshot than the pinned one. Its id is empty if no snapshot is involved. */
function isForeign({ contentType, snapshotId }: ReplyItem, { pinnedSnapshot }: Pending): boolean {
  return pinnedSnapshot !== null && contentType === "json" && snapshotId !== "" && snapshotId !== pinnedSnapshot;
}

/** The copies that these items must not be sent to; null: any may be asked. */
function avoidedBy(items: readonly Pending[]): ReadonlySet<Copy> | null {
  let avoided: Set<Copy> | null = null;
  for (const { avoid } of items) {
    if (avoid === null) continue;
    avoided ??= new Set();
    avoided.add(avoid);
  }
  return avoided;
}
