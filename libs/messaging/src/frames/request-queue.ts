/** Items that wait for a frame of one subject, and the number of its frames in flight. */

import { frameItemsMax, isCostly } from "../bounds.ts";
import type { Watched } from "../deadlines.ts";
import type { MessagingError } from "../messaging-error.ts";
import { type Share, Shares } from "../shares.ts";
import type { Lane, ReplyItem, RequestItem } from "../types.ts";
import type { Copies, Copy } from "./copies.ts";
import { type FrameVersion, headerBytes } from "./frame-codec/index.ts";
import type { SentFrame } from "./sent-frame.ts";

/** Most frames of one subject that wait for answers; further items wait here. */
const framesInFlightMax: Readonly<Record<Lane, number>> = { single: 16, batch: 4 };

/** Longest request frame. */
export const frameBytesMax = 64 * 1_024;

/** Time for which version 1 is used after nobody served version 2 of a service; then version 2 is tried again. */
export const olderFramesMs = 10_000;

/**
 * The last slots for frames are kept for callers who have no more in flight than the average caller, so that a new caller need not wait for a slow
 * answer. Their frames take no slow items of others along, which would occupy such a slot as well.
 */
const slotsKept: Readonly<Record<Lane, number>> = { single: 4, batch: 1 };

/**
 * Most units of a frame of costly requests, and of such requests of one caller in flight: one of the costliest. Their answers are long, and an answer
 * to another caller arrives after all answers that were sent before it.
 */
const costlyUnitsMax = 32;

/** Most units in flight of one caller, while others have requests too. */
const shareUnitsMax: Readonly<Record<Lane, number>> = { single: 64, batch: frameItemsMax.batch };

/** Requests that may share a frame: those of one pinned snapshot, costly ones apart. */
type Kind = string | null;

/** Requests of one caller that may share a frame. */
interface Line {
  readonly isCostly: boolean;
  /** In their order; requests that ended meanwhile are skipped. */
  items: Pending[];
  /** Index of the next one; earlier ones were taken. */
  next: number;
  /** Number of waiting requests. */
  count: number;
}

/** Ended requests that are kept before the list is rebuilt. */
const endedMax = 1_024;

/** One request, from its call to its end. */
export interface Pending extends Watched {
  /** Its id in the frame in which it was last sent. */
  id: number;
  readonly item: RequestItem;
  readonly pinnedSnapshot: string | null;
  /** Its size in a frame. */
  readonly bytes: number;
  readonly queue: RequestQueue;
  readonly share: Share;
  readonly resolve: (reply: ReplyItem) => void;
  readonly reject: (error: MessagingError) => void;
  /** On the clock of `performance.now()`. */
  readonly endsAt: number;
  /** Its remaining time when it was last sent. */
  budgetMs: number;
  state: "waiting" | "sent" | "settled";
  /** The frame that it is in; null while it waits, or when that frame will not answer it. */
  current: SentFrame | null;
  /** The frame that it was in before its retry, which may still answer. */
  earlier: SentFrame | null;
  retried: boolean;
  notYetRetries: number;
  /** Number of copies that it was sent to but that nobody served. */
  unserved: number;
  /** Number of copies that it was sent to and that were silent. */
  silences: number;
  /** The copy that must not be asked again; null: any copy may be asked. */
  avoid: Copy | null;
}

export class RequestQueue {
  readonly service: string;
  readonly lane: Lane;
  readonly copies: Copies;
  framesInFlight = 0;
  /** Frames of costly requests in flight: they must leave the last slots to others. */
  costlyInFlight = 0;
  /** Shares of all items that wait or were sent. */
  readonly shares: Shares;
  /** Sum of `Share.plainUnits` of all callers. */
  #plainUnits = 0;
  /** Callers in the order of their turns to begin a frame; within a caller, its kinds in the same way. */
  readonly #waiting = new Map<Share, Map<Kind, Line>>();
  /** Version 1 is used until this time, on the clock of `performance.now()`. */
  #olderUntil: number;

  /** @param queuedMax  most items that wait or were sent. */
  constructor(copies: Copies, lane: Lane, queuedMax: number) {
    this.shares = new Shares(queuedMax, "kept free");
    this.copies = copies;
    this.service = copies.service;
    this.lane = lane;
    this.#olderUntil = lane === "batch" ? 0 : Number.POSITIVE_INFINITY;
  }

  /** The version for a frame that is sent now. */
  version(now: number): FrameVersion {
    return now < this.#olderUntil ? 1 : 2;
  }

  /** Uses version 1 until this time. */
  useOlder(until: number): void {
    if (this.lane === "batch") this.#olderUntil = until;
  }

  add(pending: Pending): void {
    let lines = this.#waiting.get(pending.share);
    if (lines === undefined) {
      lines = new Map();
      this.#waiting.set(pending.share, lines);
    }
    const kind = kindOf(pending);
    const line = lines.get(kind);
    if (line === undefined) {
      lines.set(kind, { isCostly: isCostly(pending.item), items: [pending], next: 0, count: 1 });
      return;
    }
    line.items.push(pending);
    line.count += 1;
    if (line.items.length > 2 * line.count + endedMax) {
      line.items = line.items.slice(line.next).filter(isWaiting);
      line.next = 0;
    }
  }

  /** Call while the item waits, before its state changes. */
  remove(pending: Pending): void {
    const kind = kindOf(pending);
    const line = this.#waiting.get(pending.share)?.get(kind);
    if (line === undefined) return;
    line.count -= 1;
    if (line.count === 0) this.#drop(pending.share, kind);
  }

  /** Call when a frame has answered the item, or will not answer it any more. */
  arrived({ share, item }: Pending): void {
    this.#count(share, isCostly(item), -(item.units ?? 1));
  }

  #count(share: Share, costly: boolean, units: number): void {
    share[costly ? "costlyUnits" : "plainUnits"] += units;
    if (!costly) this.#plainUnits += units;
  }

  *waiting(): Generator<Pending> {
    for (const lines of this.#waiting.values()) for (const { items, next } of lines.values()) yield* items.slice(next).filter(isWaiting);
  }

  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Removes and returns the items of the next frame. Callers take turns to begin a frame, and within it. Empty when none may be sent now. */
  take(bytesMax: number, itemsMax = frameItemsMax[this.lane]): Pending[] {
    const framesMax = framesInFlightMax[this.lane];
    if (this.framesInFlight >= framesMax) return [];
    const sharedMax = framesMax - slotsKept[this.lane];
    const plainUnitsMax = this.framesInFlight < sharedMax ? Number.POSITIVE_INFINITY : this.#plainUnits / this.shares.callers;
    for (const [share, lines] of this.#waiting) {
      // Counts all frames of the caller: each snapshot that its requests name takes a frame of its own.
      if (share.frames >= sharedMax || share.plainUnits > plainUnitsMax) continue;
      for (const [kind, { isCostly: costly }] of lines) {
        if (costly && this.costlyInFlight >= sharedMax) continue;
        const taken = this.#takeOf(kind, this.#callersOf(kind, share, plainUnitsMax), bytesMax, itemsMax);
        if (taken.length > 0) return taken;
      }
    }
    return [];
  }

  /** @param callers  begins with the one whose turn it is. */
  #takeOf(kind: Kind, callers: readonly [Share, Line][], bytesMax: number, itemsMax: number): Pending[] {
    const taken: Pending[] = [];
    let bytes = headerBytes;
    let units = 0;
    /** Number of callers in a row that added nothing. */
    let passed = 0;
    for (let turn = 0; passed < callers.length && taken.length < itemsMax; turn = (turn + 1) % callers.length) {
      const [share, line] = callers[turn] as [Share, Line];
      const pending = nextOf(line);
      if (pending === null || !this.#mayTake(pending)) {
        passed += 1;
        // A frame must begin with a request of the caller whose turn it is.
        if (taken.length === 0) break;
        continue;
      }
      const { units: itsUnits = 1 } = pending.item;
      const unitsMax = line.isCostly ? costlyUnitsMax : itemsMax;
      if (taken.length > 0 && (bytes + pending.bytes > bytesMax || units + itsUnits > unitsMax)) break;
      bytes += pending.bytes;
      units += itsUnits;
      taken.push(pending);
      this.#count(share, line.isCostly, itsUnits);
      line.next += 1;
      line.count -= 1;
      passed = 0;
    }
    if (taken[0] !== undefined) this.#endTurn(taken[0].share, kind);
    for (const [share, line] of callers) {
      // A copy of the rest, so that taken requests are not kept in memory.
      line.items = line.items.slice(line.next);
      line.next = 0;
      if (line.count === 0) this.#drop(share, kind);
    }
    return taken;
  }

  /** Callers that have requests of the kind and at most `plainUnitsMax` units in flight: `first`, then the others in the order of their turns. */
  #callersOf(kind: Kind, first: Share, plainUnitsMax: number): [Share, Line][] {
    const callers: [Share, Line][] = [];
    for (const [share, lines] of this.#waiting) {
      const line = lines.get(kind);
      if (line === undefined || share.plainUnits > plainUnitsMax) continue;
      if (share === first) callers.unshift([share, line]);
      else callers.push([share, line]);
    }
    return callers;
  }

  /** Moves the caller to the end of the order, and the kind to the end of the caller's kinds. */
  #endTurn(share: Share, kind: Kind): void {
    const lines = this.#waiting.get(share) as Map<Kind, Line>;
    this.#waiting.delete(share);
    this.#waiting.set(share, lines);
    const line = lines.get(kind) as Line;
    lines.delete(kind);
    lines.set(kind, line);
  }

  #drop(share: Share, kind: Kind): void {
    const lines = this.#waiting.get(share);
    lines?.delete(kind);
    if (lines?.size === 0) this.#waiting.delete(share);
  }

  #mayTake({ share, item }: Pending): boolean {
    const { units = 1 } = item;
    if (isCostly(item)) return share.costlyUnits === 0 || share.costlyUnits + units <= costlyUnitsMax;
    if (share.plainUnits < shareUnitsMax[this.lane]) return true;
    return this.shares.callers === 1 && this.framesInFlight < framesInFlightMax[this.lane] - slotsKept[this.lane];
  }
}

/** Names the requests with which this one may share a frame. */
function kindOf({ item, pinnedSnapshot }: Pending): Kind {
  return isCostly(item) ? `costly ${pinnedSnapshot}` : pinnedSnapshot;
}

/** The first waiting request; null: there is none. */
function nextOf(line: Line): Pending | null {
  for (; line.next < line.items.length; line.next++) {
    const pending = line.items[line.next] as Pending;
    if (isWaiting(pending)) return pending;
  }
  return null;
}

function isWaiting({ state }: Pending): boolean {
  return state === "waiting";
}
