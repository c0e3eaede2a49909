/** Items that wait for a frame of one subject, and how many frames of it are under way. */

import { frameItemsMax, isCostly } from "../bounds.ts";
import type { Watched } from "../deadlines.ts";
import type { MessagingError } from "../messaging-error.ts";
import { type Share, Shares } from "../shares.ts";
import type { Lane, ReplyItem, RequestItem } from "../types.ts";
import type { Copies, Copy } from "./copies.ts";
import { type FrameVersion, headerBytes } from "./frame-codec/index.ts";
import type { SentFrame } from "./sent-frame.ts";

/** Frames of one subject that wait for answers; more wait here. */
export const framesInFlightMax: Readonly<Record<Lane, number>> = { single: 16, batch: 4 };

/** Longest request frame. */
export const frameBytesMax = 64 * 1_024;

/** How long version 1 is spoken to a service of which nobody served version 2, before that is tried again. */
export const olderFramesMs = 10_000;

/**
 * The last slots for frames are for callers of whom no more is under way than of the average caller, so that who comes anew need not wait for a slow
 * answer. The slow items of others would keep such a slot as well, so they are not taken along.
 */
const slotsKept: Readonly<Record<Lane, number>> = { single: 4, batch: 1 };

/**
 * Of a frame of costly requests, and of those of one caller that are under way: one of the costliest. Their answers are long, and an answer
 * to another caller arrives behind all that have left before it.
 */
const costlyUnitsMax = 32;

/** Of one caller's units under way, while others have requests too. */
const shareUnitsMax: Readonly<Record<Lane, number>> = { single: 64, batch: frameItemsMax.batch };

/** What may share a frame: the pinned snapshot, apart for costly requests. */
type Kind = string | null;

/** Requests of one caller that may share a frame. */
interface Line {
  readonly isCostly: boolean;
  /** In their order; those that ended meanwhile are passed over. */
  items: Pending[];
  /** Those before it were taken. */
  next: number;
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
  readonly share: Share;
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
  /** Copies that it was sent to and that nobody served. */
  unserved: number;
  /** Copies that it was sent to and that were silent. */
  silences: number;
  /** Who is not asked again; null: whoever comes. */
  avoid: Copy | null;
}

export class RequestQueue {
  readonly service: string;
  readonly lane: Lane;
  readonly copies: Copies;
  framesInFlight = 0;
  /** Those of costly requests: they leave the last slots to others. */
  costlyInFlight = 0;
  /** Of what waits and what is sent. */
  readonly shares: Shares;
  /** Of all callers, as `Share.plainUnits`. */
  #plainUnits = 0;
  /** Callers in the order of their turns to begin a frame, and so are the kinds of a caller. */
  readonly #waiting = new Map<Share, Map<Kind, Line>>();
  /** Until then, on the clock of `performance.now()`, version 1 is spoken. */
  #olderUntil: number;

  /** @param queuedMax  items that wait and that are sent. */
  constructor(copies: Copies, lane: Lane, queuedMax: number) {
    this.shares = new Shares(queuedMax, "kept free");
    this.copies = copies;
    this.service = copies.service;
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

  /** Call while it waits, before its state changes. */
  remove(pending: Pending): void {
    const kind = kindOf(pending);
    const line = this.#waiting.get(pending.share)?.get(kind);
    if (line === undefined) return;
    line.count -= 1;
    if (line.count === 0) this.#drop(pending.share, kind);
  }

  /** Call when a frame has no answer for it any more, or has brought it. */
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

  /** Takes the items of the next frame out: callers take turns to begin one, and in it. Empty when none may be sent now. */
  take(bytesMax: number, itemsMax = frameItemsMax[this.lane]): Pending[] {
    const framesMax = framesInFlightMax[this.lane];
    if (this.framesInFlight >= framesMax) return [];
    const sharedMax = framesMax - slotsKept[this.lane];
    const plainUnitsMax = this.framesInFlight < sharedMax ? Number.POSITIVE_INFINITY : this.#plainUnits / this.shares.callers;
    for (const [share, lines] of this.#waiting) {
      // However many snapshots its requests name: each takes a frame of its own.
      if (share.frames >= sharedMax || share.plainUnits > plainUnitsMax) continue;
      for (const [kind, { isCostly: costly }] of lines) {
        if (costly && this.costlyInFlight >= sharedMax) continue;
        const taken = this.#takeOf(kind, this.#callersOf(kind, share, plainUnitsMax), bytesMax, itemsMax);
        if (taken.length > 0) return taken;
      }
    }
    return [];
  }

  /** @param callers  with the one whose turn it is first. */
  #takeOf(kind: Kind, callers: readonly [Share, Line][], bytesMax: number, itemsMax: number): Pending[] {
    const taken: Pending[] = [];
    let bytes = headerBytes;
    let units = 0;
    /** Callers in a row that gave none. */
    let passed = 0;
    for (let turn = 0; passed < callers.length && taken.length < itemsMax; turn = (turn + 1) % callers.length) {
      const [share, line] = callers[turn] as [Share, Line];
      const pending = nextOf(line);
      if (pending === null || !this.#mayTake(pending)) {
        passed += 1;
        // The frame is begun by its own caller.
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
      // A copy of what is left, so that nothing holds what was taken.
      line.items = line.items.slice(line.next);
      line.next = 0;
      if (line.count === 0) this.#drop(share, kind);
    }
    return taken;
  }

  /** Those who have requests of the kind and no more than so much under way, in the order of their turns, from this one on. */
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

  /** The next frame is begun by another caller, and this one's next by another kind. */
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

/** Names those with which it may share a frame. */
function kindOf({ item, pinnedSnapshot }: Pending): Kind {
  return isCostly(item) ? `costly ${pinnedSnapshot}` : pinnedSnapshot;
}

/** The first that waits; null where none does. */
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
