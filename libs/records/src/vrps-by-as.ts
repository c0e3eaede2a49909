/** An index of VRPs by AS: snapshots have them by prefix (docs/decisions/0091-vrps-are-indexed-by-as-when-somebody-asks.md). */

import type { VrpSet } from "@netfacts/rpki";
import { type Generation, searchAscending } from "@netfacts/snapshot";
import type { Steps } from "./steps.ts";

/** Number of VRPs that one step indexes. */
const stepVrps = 8_192;

/** The numbers of the VRPs of a set, grouped by AS and ascending within an AS. 4 bytes per VRP. */
class VrpsByAs {
  readonly #vrps: VrpSet;
  readonly #asns: Uint32Array;
  /** For each item of `#asns`: the index at which its next VRP is put; after the last one, the end of its VRPs. */
  readonly #ends: Uint32Array;
  readonly #counts: Uint32Array;
  readonly #numbers: Uint32Array;
  /** Number of VRPs that are indexed. */
  #placed = 0;

  constructor(vrps: VrpSet, { asn, count }: NonNullable<Generation["vrpCountByAs"]>) {
    this.#vrps = vrps;
    this.#asns = asn;
    this.#counts = count;
    this.#numbers = new Uint32Array(vrps.size);
    this.#ends = new Uint32Array(asn.length);
    for (let at = 1; at < asn.length; at++) this.#ends[at] = (this.#ends[at - 1] as number) + (count[at - 1] as number);
  }

  /** Indexes some VRPs. @returns whether all are indexed. */
  work(): boolean {
    const asns = this.#vrps.columns.asn;
    const end = Math.min(this.#placed + stepVrps, this.#vrps.size);
    for (; this.#placed < end; this.#placed++) {
      const at = searchAscending(this.#asns, asns[this.#placed] as number);
      const place = this.#ends[at] as number;
      this.#numbers[place] = this.#placed;
      this.#ends[at] = place + 1;
    }
    return end === this.#vrps.size;
  }

  /** Call only when all VRPs are indexed. */
  numbersOf(asn: number): Uint32Array {
    const at = searchAscending(this.#asns, asn);
    if (at < 0) return new Uint32Array(0);
    const end = this.#ends[at] as number;
    return this.#numbers.subarray(end - (this.#counts[at] as number), end);
  }
}

const indexes = new WeakMap<VrpSet, VrpsByAs>();

/**
 * The numbers of the VRPs of an AS, ascending; null: no VRPs are imported. The first question about a set indexes it, in steps that concurrent
 * questions share.
 */
export function* vrpNumbersOf({ vrps, vrpCountByAs }: Generation, asn: number): Steps<Uint32Array | null> {
  if (vrps === null || vrpCountByAs === null) return null;
  let index = indexes.get(vrps);
  if (index === undefined) {
    index = new VrpsByAs(vrps, vrpCountByAs);
    indexes.set(vrps, index);
  }
  while (!index.work()) yield;
  return index.numbersOf(asn);
}
