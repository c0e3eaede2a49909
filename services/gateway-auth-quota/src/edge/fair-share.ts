/** Places of a bounded resource, of which one holder gets at most a quarter: a greedy caller leaves room for the others. */

/** Why there is no place: `full`, nobody gets one; `share`, this holder has its quarter. */
export type Shortage = "full" | "share";

export class FairShare {
  readonly max: number;
  /** Places of one holder at most. */
  readonly holderMax: number;
  readonly #held = new Map<string, number>();
  #used = 0;

  /** @param max places in total. */
  constructor(max: number) {
    this.max = max;
    this.holderMax = Math.ceil(max / 4);
  }

  /** Places taken. */
  get used(): number {
    return this.#used;
  }

  /** Takes a place for the holder, until `release`; or says why there is none. */
  take(holder: string): Shortage | null {
    const held = this.#held.get(holder) ?? 0;
    if (held >= this.holderMax) return "share";
    if (this.#used >= this.max) return "full";
    this.#held.set(holder, held + 1);
    this.#used += 1;
    return null;
  }

  /** Gives back one place that the holder took. */
  release(holder: string): void {
    const held = this.#held.get(holder) ?? 0;
    if (held <= 1) this.#held.delete(holder);
    else this.#held.set(holder, held - 1);
    this.#used -= 1;
  }
}
