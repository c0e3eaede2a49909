/** A bounded sample of a stream of unknown length: every item is kept with the same probability (Vitter's algorithm R, with a fixed seed). */

/** Returns a number from 0 to below 1. */
export type Random = () => number;

/** Returns the same numbers for the same text: mulberry32, seeded with its FNV-1a hash. */
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

/** Always keeps the first and the last item, because a build most easily loses entries at an edge. */
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

  /** The place at which to keep the next item of the stream; −1: it is not kept. For items that are expensive to make; pass them to `put`. */
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
