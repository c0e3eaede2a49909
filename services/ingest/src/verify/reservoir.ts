/** A bounded sample of a stream whose length is not known: every item is as likely to be kept (Vitter's algorithm R, with a fixed seed). */

/** From 0 to below 1. */
export type Random = () => number;

/** Numbers that are the same for the same text: mulberry32 over its FNV-1a hash. */
export function randomOf(text: string): Random {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The first and the last item are always kept: a build loses what stands at an edge most easily. */
export class Reservoir<T> {
  readonly #max: number;
  readonly #random: Random;
  readonly #kept: T[] = [];
  #seen = 0;
  #last: T | null = null;

  constructor(max: number, random: Random) {
    this.#max = max;
    this.#random = random;
  }

  add(item: T): void {
    const place = this.place();
    if (place >= 0) this.#kept[place] = item;
    this.#last = item;
  }

  /** Where the next item of the stream is to be kept; −1: nowhere. For items that cost something to make; `put` takes them. */
  place(): number {
    const seen = this.#seen++;
    if (seen < this.#max) return seen;
    const place = Math.floor(this.#random() * this.#seen);
    // The first item keeps its place.
    return place > 0 && place < this.#max ? place : -1;
  }

  put(place: number, item: T): void {
    this.#kept[place] = item;
  }

  items(): T[] {
    return this.#last === null || this.#kept.includes(this.#last) ? [...this.#kept] : [...this.#kept, this.#last];
  }
}
