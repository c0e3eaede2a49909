/** What the match of an address is (docs/concepts.md), by looking at every length. */

import { ByLength, bitsOf } from "./by-length.ts";

/** A prefix and how many full-feed peers see it as a whole. */
interface Seen {
  readonly prefix: string;
  readonly full: number;
}

export interface ExpectedMatch {
  readonly prefix: string | null;
  /** Longer prefixes passed over because too few full-feed peers see them. */
  readonly lowVisibility: readonly string[];
}

export class MatchRule {
  readonly #table = new ByLength<Seen>();
  readonly #peersMin: number;

  /** @param peersMin  full-feed peers that a match needs; 0 = any peer will do. */
  constructor(prefixes: Iterable<Seen>, peersMin: number) {
    this.#peersMin = peersMin;
    for (const seen of prefixes) if (!seen.prefix.endsWith("/0")) this.#table.set(bitsOf(seen.prefix), seen);
  }

  match(address: string): ExpectedMatch {
    const holding = this.#table.covering(bitsOf(address));
    // Where no prefix is seen by enough peers, the longest answers.
    const at = Math.max(
      holding.findIndex(({ full }) => full >= this.#peersMin),
      0,
    );
    return { prefix: holding[at]?.prefix ?? null, lowVisibility: holding.slice(0, at).map(({ prefix }) => prefix) };
  }
}
