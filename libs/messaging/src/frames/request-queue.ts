/** Items that wait for a frame of one subject, and how many frames of it are under way. */

import { frameItemsMax } from "../bounds.ts";
import type { Watched } from "../deadlines.ts";
import type { MessagingError } from "../messaging-error.ts";
import type { Lane, ReplyItem, RequestItem } from "../types.ts";
import { type FrameVersion, headerBytes } from "./frame-codec/index.ts";
import type { SentFrame } from "./sent-frame.ts";

/** Frames of one subject that wait for answers; more wait here. */
export const framesInFlightMax: Readonly<Record<Lane, number>> = { single: 16, batch: 4 };

/** Longest request frame. */
export const frameBytesMax = 64 * 1_024;

/** How long version 1 is spoken to a service of which nobody served version 2, before that is tried again. */
export const olderFramesMs = 10_000;

/** Requests that may share a frame. */
interface Alike {
  /** In their order; those that ended meanwhile are passed over. */
  items: Pending[];
  /** Those that wait. */
  count: number;
}

/** Ended requests that are kept before the list is made anew. */
const endedMax = 1_024;

/** One request, from its call to its end. */
export interface Pending extends Watched {
  /** Its id in the frame it was sent in last. */
  id: number;
  readonly item: RequestItem;
  readonly pinnedSnapshot: string | null;
  /** What it takes in a frame. */
  readonly bytes: number;
  readonly queue: RequestQueue;
  readonly resolve: (reply: ReplyItem) => void;
  readonly reject: (error: MessagingError) => void;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
  /** What was left of its time when it was sent last. */
  budgetMs: number;
  state: "waiting" | "sent" | "settled";
  /** The frame it is in; null while it waits, or when that frame has no answer for it. */
  current: SentFrame | null;
  /** The frame it was in before its retry, which may still answer. */
  earlier: SentFrame | null;
  retried: boolean;
  notYetRetries: number;
}

export class RequestQueue {
  readonly service: string;
  readonly lane: Lane;
  framesInFlight = 0;
  /** Waiting and sent. */
  unanswered = 0;
  /** Only what must be answered from the same snapshot shares a frame. */
  readonly #waiting = new Map<string | null, Alike>();
  /** Until then, on the clock of `performance.now()`, version 1 is spoken. */
  #olderUntil: number;

  constructor(service: string, lane: Lane) {
    this.service = service;
    this.lane = lane;
    this.#olderUntil = lane === "batch" ? 0 : Number.POSITIVE_INFINITY;
  }

  /** The version of a frame that is sent now. */
  version(now: number): FrameVersion {
    return now < this.#olderUntil ? 1 : 2;
  }

  /** Speaks version 1 until then. */
  useOlder(until: number): void {
    if (this.lane === "batch") this.#olderUntil = until;
  }

  add(pending: Pending): void {
    const alike = this.#waiting.get(pending.pinnedSnapshot);
    if (alike === undefined) this.#waiting.set(pending.pinnedSnapshot, { items: [pending], count: 1 });
    else {
      alike.items.push(pending);
      alike.count += 1;
      if (alike.items.length > 2 * alike.count + endedMax) alike.items = alike.items.filter(isWaiting);
    }
  }

  /** Call while it waits, before its state changes. */
  remove(pending: Pending): void {
    const alike = this.#waiting.get(pending.pinnedSnapshot);
    if (alike === undefined) return;
    alike.count -= 1;
    if (alike.count === 0) this.#waiting.delete(pending.pinnedSnapshot);
  }

  *waiting(): Generator<Pending> {
    for (const { items } of this.#waiting.values()) yield* items.filter(isWaiting);
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  get mayBeSent(): boolean {
    return this.#waiting.size > 0 && this.framesInFlight < framesInFlightMax[this.lane];
  }

  /** Takes the items of the next frame out, in their order; snapshots take turns. */
  take(bytesMax: number): Pending[] {
    const [first] = this.#waiting;
    if (first === undefined) return [];
    const [pinned, alike] = first;
    const taken: Pending[] = [];
    let bytes = headerBytes;
    const { items } = alike;
    const itemsMax = frameItemsMax[this.lane];
    let next = 0;
    for (; next < items.length; next++) {
      const pending = items[next] as Pending;
      if (!isWaiting(pending)) continue;
      if (taken.length === itemsMax || (taken.length > 0 && bytes + pending.bytes > bytesMax)) break;
      bytes += pending.bytes;
      taken.push(pending);
    }
    alike.count -= taken.length;
    this.#waiting.delete(pinned);
    if (alike.count === 0) return taken;
    // A copy of what is left, so that nothing holds what was taken.
    alike.items = items.slice(next);
    this.#waiting.set(pinned, alike);
    return taken;
  }
}

function isWaiting({ state }: Pending): boolean {
  return state === "waiting";
}
