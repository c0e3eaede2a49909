/** Origin validation (RFC 6811) by looking at every VRP whose prefix covers the route's: no trie, no sorting. */

import { type Bits, ByLength, bitsOf, leading } from "./by-length.ts";

export interface PlainVrp {
  readonly asn: number;
  readonly prefix: string;
  readonly maxLength: number;
}

export type PlainState = "valid" | "invalid" | "not-found";

/** Finds the covering VRPs by one look-up per length. */
export class OriginRule {
  readonly #vrps = new ByLength<PlainVrp[]>();

  constructor(vrps: Iterable<PlainVrp>) {
    for (const vrp of vrps) {
      const prefix = bitsOf(vrp.prefix);
      const held = this.#vrps.get(prefix);
      if (held === undefined) this.#vrps.set(prefix, [vrp]);
      else held.push(vrp);
    }
  }

  /** @param origin  as `dump routes` writes it: an AS number, or a set in braces, which no VRP matches. */
  state(prefix: string, origin: string): PlainState {
    const bits = bitsOf(prefix);
    return stateUnder(this.#vrps.covering(bits).flat(), bits.length, origin);
  }
}

/** The linear rule: every VRP there is, one after the other. @param vrps  with the bits of their prefixes. */
export function linearState(vrps: readonly { readonly vrp: PlainVrp; readonly bits: Bits }[], prefix: string, origin: string): PlainState {
  const route = bitsOf(prefix);
  const covering = vrps.filter(({ bits }) => covers(bits, route));
  return stateUnder(
    covering.map(({ vrp }) => vrp),
    route.length,
    origin,
  );
}

function covers(outer: Bits, inner: Bits): boolean {
  if (outer.family !== inner.family || outer.length > inner.length) return false;
  return leading(outer, outer.length) === leading(inner, outer.length);
}

function stateUnder(covering: readonly PlainVrp[], length: number, origin: string): PlainState {
  if (covering.length === 0) return "not-found";
  // AS 0 says that nobody may announce the prefix (RFC 7607): it covers and never matches.
  return covering.some(({ asn, maxLength }) => length <= maxLength && asn !== 0 && `${asn}` === origin) ? "valid" : "invalid";
}
