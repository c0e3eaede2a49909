/** Counts how many records of one file contain the same address. */

import type { Address } from "@netfacts/address";

/** The ranges of one family, by the first 64 bits of their addresses: registries delegate at least a /64 of IPv6. */
export class Overlaps {
  /** Halves of 64-bit numbers, the lower half first. */
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  /** @param end  the last address */
  add(start: Address, end: Address): void {
    this.#starts.push(start.w1, start.w0);
    this.#ends.push(end.w1, end.w0);
  }

  /** The highest number of ranges that contain one address. Cost: two sorts. */
  most(): number {
    const starts = sorted(this.#starts);
    const ends = sorted(this.#ends);
    let ended = 0;
    let most = 0;
    for (let begun = 1; begun <= starts.length; begun++) {
      while ((ends[ended] as bigint) < (starts[begun - 1] as bigint)) ended++;
      most = Math.max(most, begun - ended);
    }
    return most;
  }
}

function sorted(halves: readonly number[]): BigUint64Array {
  return new BigUint64Array(Uint32Array.from(halves).buffer).sort();
}
