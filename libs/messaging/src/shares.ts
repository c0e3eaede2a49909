/** Fair shares of a limited number of places; one rule for all (`docs/design/protocols.md#http-edges`). */

/** The share of one caller. */
export interface Share {
  readonly caller: string;
  places: number;
  /** Units in flight, of plain and of costly requests; used only by request queues. */
  plainUnits: number;
  costlyUnits: number;
  /** Frames in flight that it began; used only by request queues. */
  frames: number;
}

/**
 * How a caller gets its places while others have too many:
 *
 * - `kept free`: for places that are returned soon. The last quarter is for callers who have less than a quarter.
 * - `taken back`: for places that may be held for hours. All of them are given out. If none is free for a caller who has less than a quarter,
 * `surplus` names the caller who must return one.
 */
export type Reserve = "kept free" | "taken back";

/**
 * A caller who has less than a quarter of the places always comes first: while others ask, no caller can keep it from its quarter. Places that nobody
 * else asks for are free to use.
 */
export class Shares {
  readonly max: number;
  readonly #reserve: Reserve;
  readonly #of = new Map<string, Share>();
  #used = 0;

  constructor(max: number, reserve: Reserve) {
    this.max = max;
    this.#reserve = reserve;
  }

  /** Number of callers who have a place. */
  get callers(): number {
    return this.#of.size;
  }

  /** Number of places in use. */
  get used(): number {
    return this.#used;
  }

  /** Takes a place, until `leave`; null: there is none for this caller now. */
  enter(caller: string): Share | null {
    if (!this.mayEnter(caller)) return null;
    let share = this.#of.get(caller);
    if (share === undefined) {
      share = { caller, places: 0, plainUnits: 0, costlyUnits: 0, frames: 0 };
      this.#of.set(caller, share);
    }
    this.#used += 1;
    share.places += 1;
    return share;
  }

  /** Whether `enter` would return a place. */
  mayEnter(caller: string): boolean {
    const kept = this.#reserve === "kept free" && this.hasQuarter(caller) ? this.max / 4 : 0;
    return this.#used < this.max - kept;
  }

  leave(share: Share): void {
    this.#used -= 1;
    share.places -= 1;
    if (share.places === 0) this.#of.delete(share.caller);
  }

  /** Whether the caller has its guaranteed quarter: it gets further places only if others leave them. */
  hasQuarter(caller: string): boolean {
    return (this.#of.get(caller)?.places ?? 0) >= this.max / 4;
  }

  /** The caller with the most places, if these are more than a quarter; null: there is none. */
  surplus(): string | null {
    let most: Share | null = null;
    for (const share of this.#of.values()) if (share.places > (most?.places ?? this.max / 4)) most = share;
    return most === null ? null : most.caller;
  }
}
