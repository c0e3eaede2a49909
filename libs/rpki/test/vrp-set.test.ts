/** The VRP set: what it holds, in which order, and what it refuses. */

import { describe, expect, test } from "@jest/globals";
import { makePrefix } from "@netfacts/address";
import { PrefixOrderError, PrefixTrie } from "@netfacts/prefix-trie";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import { encodeVrpColumns, type Vrp, VrpSet } from "../src/index.ts";
import { anyPrefix, anyVrp, vrpList } from "./arbitraries.ts";
import { bitsOf, covers, inOrder } from "./linear-rule.ts";

const all = (set: VrpSet): Vrp[] => Array.from({ length: set.size }, (_, index) => set.vrpAt(index));
const net10 = makePrefix(4, 0x0a00_0000, 0, 0, 0, 8);
const vrp = (changes: Partial<Vrp>): Vrp => ({
  asn: 64_496,
  prefix: net10,
  maxLength: 24,
  ta: "ripe",
  expiresAt: 1_000,
  loose: false,
  ...changes,
});

test("holds the VRPs that it was made from, ascending by prefix, max length and AS", () => {
  fc.assert(
    fc.property(vrpList(60), (vrps) => {
      const set = VrpSet.from(vrps);
      expect(set.size).toBe(vrps.length);
      expect(all(set)).toEqual(inOrder(vrps));
    }),
    { seed: seed(1), numRuns: runs(500) },
  );
});

test("finds what covers a prefix and what lies inside it as a filter over all does", () => {
  fc.assert(
    fc.property(vrpList(60), anyPrefix, (vrps, prefix) => {
      const set = VrpSet.from(vrps);
      const inside = (vrp: Vrp) => covers(prefix, vrp.prefix) && bitsOf(prefix) !== bitsOf(vrp.prefix);
      expect(set.covering(prefix)).toEqual(inOrder(vrps.filter((vrp) => covers(vrp.prefix, prefix))));
      const expected = inOrder(vrps.filter(inside));
      expect(set.moreSpecifics(prefix)).toEqual(expected);
      const { start, end } = set.moreSpecificRange(prefix);
      expect(all(set).slice(start, end)).toEqual(expected);
    }),
    { seed: seed(2), numRuns: runs(1_500) },
  );
});

test("is the same, byte for byte, whatever the order of its input", () => {
  const input = fc.array(anyVrp, { maxLength: 60 });
  fc.assert(
    fc.property(
      input.chain((vrps) => fc.tuple(fc.constant(vrps), fc.shuffledSubarray(vrps, { minLength: vrps.length }))),
      ([vrps, shuffled]) => expect(encodeVrpColumns(shuffled)).toEqual(encodeVrpColumns(vrps)),
    ),
    { seed: seed(3), numRuns: runs(500) },
  );
});

test("answers the same from its columns, and from a copy as another thread gets it", () => {
  fc.assert(
    fc.property(vrpList(), (vrps) => {
      const { columns, taNames } = structuredClone(encodeVrpColumns(vrps));
      const expected = inOrder(vrps);
      expect(all(VrpSet.fromColumns(columns, taNames))).toEqual(expected);
      const trie = PrefixTrie.build(columns.prefixes, { ipv4: "direct" });
      expect(VrpSet.fromColumns(columns, taNames, trie).trie).toBe(trie);
    }),
    // Each run makes a direct table of 64 MiB.
    { seed: seed(4), numRuns: runs(5) },
  );
});

describe("of VRPs equal in prefix, max length and AS", () => {
  test("the one that expires last stays, with its trust anchor", () => {
    const kept = all(VrpSet.from([vrp({ expiresAt: 1_000 }), vrp({ expiresAt: 3_000, ta: "apnic" }), vrp({ expiresAt: 2_000 })]));
    expect(kept).toEqual([vrp({ expiresAt: 3_000, ta: "apnic" })]);
  });

  test("one that tells its expiry stays before one that does not", () => {
    expect(all(VrpSet.from([vrp({ expiresAt: null }), vrp({ expiresAt: 1 })]))).toEqual([vrp({ expiresAt: 1 })]);
  });

  test("what stays is loose when any was", () => {
    expect(all(VrpSet.from([vrp({ expiresAt: 2_000 }), vrp({ expiresAt: 1_000, loose: true })]))).toEqual([
      vrp({ expiresAt: 2_000, loose: true }),
    ]);
  });

  test("max length and AS keep others apart", () => {
    expect(VrpSet.from([vrp({}), vrp({ maxLength: 25 }), vrp({ asn: 0 })]).size).toBe(3);
  });
});

test("an expiry stands as a whole second that fits 32 bits", () => {
  const expiries = [0, 1_000.9, 2 ** 40].map((expiresAt) => VrpSet.from([vrp({ expiresAt })]).vrpAt(0).expiresAt);
  expect(expiries).toEqual([1, 1_000, 2 ** 32 - 1]);
});

test("trust anchors are named once, ascending", () => {
  const { columns, taNames } = encodeVrpColumns([
    vrp({ ta: "ripe" }),
    vrp({ asn: 1, ta: null }),
    vrp({ asn: 2, ta: "afrinic" }),
    vrp({ asn: 3, ta: "ripe" }),
  ]);
  expect(taNames).toEqual(["afrinic", "ripe"]);
  expect([...columns.ta]).toEqual([255, 0, 1, 1]);
});

test("holds 255 trust anchors and refuses the 256th", () => {
  const named = (count: number) => Array.from({ length: count }, (_, index) => vrp({ asn: index, ta: `ta-${index}` }));
  expect(VrpSet.from(named(255)).vrpAt(254).ta).toBe("ta-254");
  expect(() => VrpSet.from(named(256))).toThrow("more than 255 trust anchors");
});

test.each([
  ["a max length below the length", { maxLength: 7 }, "max length 7 is not within 8–32"],
  ["a max length beyond the family's", { maxLength: 33 }, "max length 33 is not within 8–32"],
  ["a max length that is no integer", { maxLength: 8.5 }, "max length 8.5"],
  ["an AS number above 32 bits", { asn: 2 ** 32 }, "no AS number: 4294967296"],
  ["a negative AS number", { asn: -1 }, "no AS number: -1"],
])("refuses %s", (_, changes, message) => {
  expect(() => VrpSet.from([vrp(changes)])).toThrow(message);
});

test("refuses host bits", () => {
  expect(() => VrpSet.from([vrp({ prefix: { ...net10, w0: 0x0a00_0001 } })])).toThrow(PrefixOrderError);
});

test("an empty set covers nothing", () => {
  const set = VrpSet.from([]);
  expect(set.size).toBe(0);
  expect(set.covering(net10)).toEqual([]);
  expect(set.moreSpecificRange(net10)).toEqual({ start: 0, end: 0 });
});

test("ten thousand VRPs of one prefix are sorted without ado", () => {
  const vrps = Array.from({ length: 10_000 }, (_, index) => vrp({ asn: (index * 7_919) % 10_000, maxLength: 8 + (index % 25) }));
  expect(all(VrpSet.from(vrps))).toEqual(inOrder(vrps));
});
