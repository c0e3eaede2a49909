/** Fair shares of a bounded number of places, by one rule for all of them (`docs/design/protocols.md#http-edges`). */

/** What one caller has. */
export interface Share {
  readonly caller: string;
  places: number;
  /** Units under way, of plain and of costly requests, for those who count them. */
  plainUnits: number;
  costlyUnits: number;
  /** Frames under way that it began, for those who send frames. */
  frames: number;
}

/**
 * How a caller comes to its places while others have too many:
 *
 * - `kept free`: places that are given back soon. The last quarter is for callers who have less than a quarter.
 * - `taken back`: places that may be held for hours. All are given to who asks; where none is free for a caller who has less than a
 *   quarter, `surplus` says whose place is to be taken back.
 */
export type Reserve = "kept free" | "taken back";

/**
 * A caller who has less than a quarter of the places always comes first: while others ask, nobody keeps more than a quarter from it. What
 * nobody else asks for is free to use.
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

  /** Callers who have a place. */
  get callers(): number {
    return this.#of.size;
  }

  /** Places taken. */
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

  /** Whether `enter` would give a place. */
  mayEnter(caller: string): boolean {
    const kept = this.#reserve === "kept free" && this.hasQuarter(caller) ? this.max / 4 : 0;
    return this.#used < this.max - kept;
  }

  leave(share: Share): void {
    this.#used -= 1;
    share.places -= 1;
    if (share.places === 0) this.#of.delete(share.caller);
  }

  /** Whether the caller has what it is sure of: further places are those that others leave. */
  hasQuarter(caller: string): boolean {
    return (this.#of.get(caller)?.places ?? 0) >= this.max / 4;
  }

  /** Who has the most places, where that is more than a quarter; null: nobody has. */
  surplus(): string | null {
    let most: Share | null = null;
    for (const share of this.#of.values()) if (share.places > (most?.places ?? this.max / 4)) most = share;
    return most === null ? null : most.caller;
  }
}
