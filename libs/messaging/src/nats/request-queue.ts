/** Items that wait for a frame of one subject, and how many frames of it are under way. */

import { frameItemsMax } from "../bounds.ts";
import type { Watched } from "../deadlines.ts";
import type { MessagingError } from "../messaging-error.ts";
import type { Lane, ReplyItem, RequestItem } from "../types.ts";
import { headerBytes } from "./frame-codec/index.ts";
import type { SentFrame } from "./sent-frame.ts";

/** Frames of one subject that wait for answers; more wait here. */
export const framesInFlightMax: Readonly<Record<Lane, number>> = { single: 16, batch: 4 };

/** Longest request frame. */
export const frameBytesMax = 64 * 1_024;

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
  readonly subject: string;
  framesInFlight = 0;
  /** Waiting and sent. */
  unanswered = 0;
  /** Only what must be answered from the same snapshot shares a frame. */
  readonly #waiting = new Map<string | null, Set<Pending>>();

  constructor(service: string, lane: Lane, subject: string) {
    this.service = service;
    this.lane = lane;
    this.subject = subject;
  }

  add(pending: Pending): void {
    const alike = this.#waiting.get(pending.pinnedSnapshot);
    if (alike === undefined) this.#waiting.set(pending.pinnedSnapshot, new Set([pending]));
    else alike.add(pending);
  }

  remove(pending: Pending): void {
    const alike = this.#waiting.get(pending.pinnedSnapshot);
    alike?.delete(pending);
    if (alike?.size === 0) this.#waiting.delete(pending.pinnedSnapshot);
  }

  *waiting(): Generator<Pending> {
    for (const alike of this.#waiting.values()) yield* alike;
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
    for (const pending of alike) {
      if (taken.length === frameItemsMax[this.lane] || (taken.length > 0 && bytes + pending.bytes > bytesMax)) break;
      bytes += pending.bytes;
      taken.push(pending);
      alike.delete(pending);
    }
    this.#waiting.delete(pinned);
    if (alike.size > 0) this.#waiting.set(pinned, alike);
    return taken;
  }
}
