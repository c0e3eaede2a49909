/** Random VRPs and routes that meet: few stems, few AS numbers, every length from /0 to a host's. */

import { makePrefix, type Prefix } from "@netfacts/address";
import fc from "../../../test/support/properties.ts";
import type { Vrp } from "../src/index.ts";

// Neighbours that differ in their last bit only are where a mask goes wrong by one.
const stemWords = [0, 1, 0x0a00_0000, 0xc000_0200, 0xc000_02ff, 0x2001_0db8, 0x2001_0db9, 0x8000_0000, 0xffff_fffe, 0xffff_ffff];
const word = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...stemWords) }, { weight: 1, arbitrary: fc.nat(0xffff_ffff) });
const length4 = fc.oneof(fc.nat(32), fc.constantFrom(0, 8, 16, 24, 24, 32));
const length6 = fc.oneof(fc.nat(128), fc.constantFrom(0, 32, 48, 64, 127, 128));

export const anyPrefix: fc.Arbitrary<Prefix> = fc.oneof(
  fc.tuple(word, length4).map(([w0, length]) => makePrefix(4, w0, 0, 0, 0, length)),
  fc.tuple(word, word, word, word, length6).map(([w0, w1, w2, w3, length]) => makePrefix(6, w0, w1, w2, w3, length)),
);

const someAs = fc.constantFrom(0, 1, 64_496, 64_497, 4_294_967_295);

export const anyVrp: fc.Arbitrary<Vrp> = fc
  .record({
    asn: someAs,
    prefix: anyPrefix,
    more: fc.oneof(fc.constantFrom(0, 0, 1, 8, 128), fc.nat(128)),
    ta: fc.constantFrom("ripe", "apnic", null),
    expiresAt: fc.constantFrom(null, 1, 1_753_453_058, 1_753_453_059),
    loose: fc.boolean(),
  })
  .map(({ more, ...vrp }) => ({ ...vrp, maxLength: Math.min(vrp.prefix.length + more, vrp.prefix.version === 4 ? 32 : 128) }));

const keyOf = ({ prefix: { version, w0, w1, w2, w3, length }, maxLength, asn }: Vrp) =>
  [version, w0, w1, w2, w3, length, maxLength, asn].join();

/** VRPs without two equal in (prefix, max length, AS). */
export const vrpList = (maxLength = 30) => fc.uniqueArray(anyVrp, { maxLength, selector: keyOf });

export interface Route {
  readonly prefix: Prefix;
  readonly origin: number | null;
}

export const anyRoute: fc.Arbitrary<Route> = fc.record({ prefix: anyPrefix, origin: fc.oneof(someAs, fc.constant(null)) });
