/** The answering side: serves the frames of one service, single before batch, in short turns. */

import { randomBytes } from "node:crypto";
import { Deadlines, type Watched } from "../deadlines.ts";
import type { MessagingEvents } from "../options.ts";
import { seldom } from "../seldom.ts";
import { turnMs } from "../turns.ts";
import type { FrameHandler, Lane } from "../types.ts";
import { within } from "../within.ts";
import { decodeRequestFrame, encodeFailedFrame, type FrameVersion, type RequestFrame } from "./frame-codec/index.ts";
import type { Link, LinkSubscription, Message } from "./link.ts";
import type { ReplyAddress, ReplyWriter } from "./reply-writer.ts";
import { callSubject, copySubject, requestSubject, servedLanes } from "./subjects.ts";

/** Longest time that a stop waits for pending answers. */
export const stopMsMax = 10_000;

export interface FrameServerDeps {
  readonly link: Link;
  readonly replies: ReplyWriter;
  readonly service: string;
  readonly handler: FrameHandler;
  readonly events: MessagingEvents;
  readonly onError: (what: string, cause: unknown) => void;
}

const noBytes = new Uint8Array();

interface Work extends ReplyAddress, Watched {
  readonly frame: RequestFrame;
  readonly lane: Lane;
  /** Indexes without an answer. */
  readonly open: Set<number>;
}

export class FrameServer {
  readonly #deps: FrameServerDeps;
  readonly #subscriptions: readonly LinkSubscription[];
  /** Subscriptions to the subjects with the name of this copy. */
  readonly #named: readonly LinkSubscription[];
  /** The name of this copy in its answers. */
  readonly #from: string;
  /** Subscriptions without which it cannot serve at all. */
  readonly #needed: readonly LinkSubscription[];
  readonly #queues: Readonly<Record<Lane, Work[]>> = { single: [], batch: [] };
  /** Frames that are not completely answered, until nobody waits for them any more. */
  readonly #unfinished = new Set<Work>();
  /** Limited, as a sender of another version, or a broken one, may send such frames without end. */
  readonly #tellUnreadable = seldom((cause: unknown) =>
    this.#deps.onError(`a frame to ${this.#deps.service} cannot be read; further ones are only counted for a minute`, cause),
  );
  readonly #deadlines = new Deadlines<Work>((work) => this.#finish(work));
  /** Memory for the bodies of one frame: they are copied into messages when they are answered. */
  #bodyMemory = Buffer.alloc(0);
  #running = false;
  #isSmallestNext = true;
  #onDrained: (() => void) | null = null;
  #stopping: Promise<void> | undefined;

  constructor(deps: FrameServerDeps) {
    this.#deps = deps;
    const { link, service } = deps;
    const subscriptions = servedLanes.map(({ lane, version }) => {
      const receive = (message: Message) => this.#receive(lane, version, message);
      return { version, subscription: link.subscribe(requestSubject(service, lane, version), receive, service) };
    });
    const copy = randomBytes(9).toString("base64url");
    this.#from = copySubject(service, copy);
    this.#named = servedLanes.map(({ lane, version }) =>
      link.subscribe(requestSubject(service, lane, version, copy), (message) => this.#receive(lane, version, message)),
    );
    const calls = link.subscribe(callSubject(service), ({ reply }) => this.#called(reply));
    this.#subscriptions = [calls, ...this.#named, ...subscriptions.map(({ subscription }) => subscription)];
    // Version 2 is not needed: if older permissions do not allow it, requesters use version 1.
    this.#needed = subscriptions.filter(({ version }) => version === 1).map(({ subscription }) => subscription);
  }

  /**
   * Resolves when frames can arrive.
   *
   * @throws Error when the server does not allow this connection to serve.
   */
  async ready(): Promise<void> {
    await this.#deps.link.flush();
    if (this.#stopping === undefined && this.#needed.some((subscription) => subscription.isClosed()))
      throw new Error(`the NATS server does not allow this connection to serve ${this.#deps.service}; check the permissions of its user`);
  }

  /** Takes nothing new; resolves when everything that was taken is answered and the server has the answers, or after about 10 s. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    // Drains only the subscriptions: draining the connection would close it before late replies are sent.
    await this.#deps.link.drain(this.#subscriptions, stopMsMax);
    if (this.#unfinished.size > 0) {
      const drained = new Promise<void>((resolve) => {
        this.#onDrained = resolve;
      });
      await within(stopMsMax, drained);
    }
    for (const work of this.#unfinished) this.#finish(work);
    this.#deps.replies.flush();
    await this.#deps.link.flush();
  }

  /** The name of this copy; undefined if the server does not allow it to be asked by name. */
  get #name(): string | undefined {
    return this.#named.some((subscription) => subscription.isClosed()) ? undefined : this.#from;
  }

  #called(subject: string | undefined): void {
    const from = this.#name;
    if (subject !== undefined && subject !== "" && from !== undefined && this.#stopping === undefined)
      this.#deps.link.publish(subject, noBytes, from);
  }

  #receive(lane: Lane, version: FrameVersion, message: Message): void {
    const subject = message.reply;
    // A message without a reply subject is not a request.
    if (subject === undefined || subject === "") return;
    let frame: RequestFrame;
    try {
      frame = decodeRequestFrame(message.data);
    } catch (cause) {
      this.#deps.events.frameRefused?.(this.#deps.service, lane);
      this.#tellUnreadable(cause);
      this.#deps.link.publish(subject, encodeFailedFrame(version, 0));
      return;
    }
    this.#deps.events.frameServed?.(this.#deps.service, lane, frame.items.length);
    const work: Work = {
      frame,
      lane,
      version: frame.version,
      frameId: frame.frameId,
      subject,
      from: this.#name,
      open: new Set(frame.items.keys()),
      bucket: null,
    };
    this.#unfinished.add(work);
    this.#deadlines.add(work, Math.max(...frame.items.map(({ budgetMs }) => budgetMs)));
    this.#queues[lane].push(work);
    if (this.#running) return;
    this.#running = true;
    // Runs after all messages that arrived together are queued, so that single ones overtake batches.
    queueMicrotask(() => this.#run());
  }

  #run(): void {
    const start = performance.now();
    do {
      const work = this.#queues.single.shift() ?? this.#nextBatch();
      if (work === undefined) {
        this.#running = false;
        return;
      }
      if (this.#unfinished.has(work)) this.#serve(work);
    } while (performance.now() - start < turnMs);
    setImmediate(() => this.#run());
  }

  /** Takes the smallest and the oldest frame alternately: a small one does not wait for all large ones, and a large one is served all the same. */
  #nextBatch(): Work | undefined {
    const { batch } = this.#queues;
    if (batch.length < 2) return batch.shift();
    const isSmallest = this.#isSmallestNext;
    this.#isSmallestNext = !isSmallest;
    if (!isSmallest) return batch.shift();
    let smallest = 0;
    for (let index = 1; index < batch.length; index++) if (sizeOf(batch, index) < sizeOf(batch, smallest)) smallest = index;
    return batch.splice(smallest, 1)[0];
  }

  #serve(work: Work): void {
    const { frame } = work;
    const fail = (cause: unknown) => {
      this.#deps.onError("a frame handler failed", cause);
      if (work.open.size > 0) this.#deps.replies.fail(work);
      this.#finish(work);
    };
    try {
      const { items, pinnedSnapshot } = frame;
      const handled = this.#deps.handler({ items, pinnedSnapshot, bodyMemory: this.#memoryOf }, (index, reply) => {
        if (!work.open.delete(index)) return;
        this.#deps.replies.add(work, frame.ids[index] as number, reply);
        if (work.open.size === 0) this.#finish(work);
      });
      handled?.catch(fail);
    } catch (cause) {
      fail(cause);
    }
  }

  readonly #memoryOf = (bytes: number): Buffer => {
    if (this.#bodyMemory.length < bytes) this.#bodyMemory = Buffer.allocUnsafeSlow(bytes);
    return this.#bodyMemory;
  };

  #finish(work: Work): void {
    if (!this.#unfinished.delete(work)) return;
    this.#deadlines.remove(work);
    work.open.clear();
    if (this.#unfinished.size === 0) this.#onDrained?.();
  }
}

function sizeOf(queue: readonly Work[], index: number): number {
  return (queue[index] as Work).frame.items.length;
}
