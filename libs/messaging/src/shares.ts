/** Fair shares of a bounded number of places: whoever takes many leaves some to the others. */

/** What one caller has. */
export interface Share {
  readonly caller: string;
  places: number;
  /** Units of what is under way. */
  sentUnits: number;
}

export class Shares {
  readonly #of = new Map<string, Share>();
  #taken = 0;

  /** Callers who have a place. */
  get callers(): number {
    return this.#of.size;
  }

  /**
   * Takes a place, until `leave`.
   *
   * @param places how many there are; the last quarter is for callers who have less than a quarter.
   * @returns null where there is none for this caller.
   */
  enter(caller: string, places: number): Share | null {
    const known = this.#of.get(caller);
    const kept = known !== undefined && known.places >= places / 4 ? places / 4 : 0;
    if (this.#taken >= places - kept) return null;
    const share = known ?? { caller, places: 0, sentUnits: 0 };
    if (known === undefined) this.#of.set(caller, share);
    this.#taken += 1;
    share.places += 1;
    return share;
  }

  leave(share: Share): void {
    this.#taken -= 1;
    share.places -= 1;
    if (share.places === 0) this.#of.delete(share.caller);
  }
}
