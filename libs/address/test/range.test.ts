/** Ranges as prefixes, against a set of single addresses that merges by hand, and against ip-num. */

import { describe, expect, test } from "@jest/globals";
import { type IPv6, RangedSet } from "ip-num";
import fc from "../../../test/support/properties.ts";
import { runs, seed } from "../../../test/support/runs.ts";
import {
  type Address,
  compareAddresses,
  comparePrefixes,
  firstAddress,
  formatAddress,
  formatPrefix,
  lastAddress,
  makePrefix,
  nextAddress,
  type Prefix,
  parseAddress,
  rangeToPrefixes,
} from "../src/index.ts";
import { word } from "./address-text.ts";

const address = (text: string) => parseAddress(text) as Address;
const range = (start: string, end: string) => rangeToPrefixes(address(start), address(end)).map(formatPrefix);

/** Starts with every address alone and merges sibling pairs until none is left. */
function mergedSingles(start: Address, count: number): string[] {
  let prefixes: Prefix[] = [];
  for (let at: Address | null = start, left = count; at !== null && left > 0; at = nextAddress(at), left--) {
    prefixes.push(makePrefix(at.version, at.w0, at.w1, at.w2, at.w3, at.version === 4 ? 32 : 128));
  }
  for (;;) {
    const merged: Prefix[] = [];
    for (const prefix of prefixes) {
      const before = merged.at(-1);
      if (before !== undefined && siblings(before, prefix)) merged[merged.length - 1] = parent(prefix);
      else merged.push(prefix);
    }
    if (merged.length === prefixes.length) return merged.map(formatPrefix);
    prefixes = merged;
  }
}
const parent = ({ version, w0, w1, w2, w3, length }: Prefix) => makePrefix(version, w0, w1, w2, w3, length - 1);
function siblings(a: Prefix, b: Prefix): boolean {
  return a.length > 0 && a.length === b.length && comparePrefixes(a, b) !== 0 && comparePrefixes(parent(a), parent(b)) === 0;
}

function follows(before: Address, address: Address): boolean {
  const next = nextAddress(before);
  return next !== null && compareAddresses(next, address) === 0;
}

function after(start: Address, steps: number): Address | null {
  let at: Address | null = start;
  for (let step = 0; step < steps && at !== null; step++) at = nextAddress(at);
  return at;
}

// ip-num's two kinds of sets have methods that take their own kind only: to the type checker all are of one.
const rangedSet = (first: Address, last: Address) =>
  RangedSet.fromRangeString(`${formatAddress(first)}-${formatAddress(last)}`) as RangedSet<IPv6>;

const anyAddress: fc.Arbitrary<Address> = fc
  .tuple(fc.boolean(), word, word, word, word)
  .map(([six, w0, w1, w2, w3]) => (six ? { version: 6, w0, w1, w2, w3 } : { version: 4, w0, w1: 0, w2: 0, w3: 0 }));

describe("the prefixes of a range", () => {
  test("are those of merging single addresses", () => {
    fc.assert(
      fc.property(anyAddress, fc.integer({ min: 1, max: 300 }), (start, count) => {
        const end = after(start, count - 1);
        fc.pre(end !== null);
        expect(rangeToPrefixes(start, end as Address).map(formatPrefix)).toEqual(mergedSingles(start, count));
      }),
      { seed: seed(1878), numRuns: runs(400) },
    );
  });

  test("follow each other without gap, without a pair that could be one, from the first to the last address", () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, (one, other) => {
        fc.pre(one.version === other.version);
        const [start, end] = compareAddresses(one, other) <= 0 ? [one, other] : [other, one];
        const prefixes = rangeToPrefixes(start, end);
        expect(firstAddress(prefixes[0] as Prefix)).toEqual(start);
        expect(lastAddress(prefixes.at(-1) as Prefix)).toEqual(end);
        const faults = prefixes.filter((prefix, index) => {
          const before = prefixes[index - 1];
          return before !== undefined && (siblings(before, prefix) || !follows(lastAddress(before), firstAddress(prefix)));
        });
        expect(faults.map(formatPrefix)).toEqual([]);
      }),
      { seed: seed(1879), numRuns: runs(1_000) },
    );
  });

  test("are the ranges that ip-num knows under that name, and join to the whole", () => {
    fc.assert(
      fc.property(anyAddress, anyAddress, (one, other) => {
        fc.pre(one.version === other.version);
        const [start, end] = compareAddresses(one, other) <= 0 ? [one, other] : [other, one];
        const sets = rangeToPrefixes(start, end).map((prefix) => {
          const set = rangedSet(firstAddress(prefix), lastAddress(prefix));
          expect(set.toCidrRange().getPrefix().getValue()).toBe(BigInt(prefix.length));
          return set;
        });
        const joined = sets.reduce((left, right) => left.append(right));
        expect(joined.isEquals(rangedSet(start, end))).toBe(true);
      }),
      { seed: seed(1880), numRuns: runs(60) },
    );
  });

  test.each([
    ["0.0.0.0", "255.255.255.255", ["0.0.0.0/0"]],
    ["0.0.0.0", "127.255.255.255", ["0.0.0.0/1"]],
    ["193.0.0.0", "193.0.7.255", ["193.0.0.0/21"]],
    ["193.0.0.0", "193.0.2.255", ["193.0.0.0/23", "193.0.2.0/24"]],
    ["255.255.255.255", "255.255.255.255", ["255.255.255.255/32"]],
    ["255.255.255.253", "255.255.255.255", ["255.255.255.253/32", "255.255.255.254/31"]],
    ["::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ["::/0"]],
    ["2001:db8::", "2001:db8:2:ffff:ffff:ffff:ffff:ffff", ["2001:db8::/47", "2001:db8:2::/48"]],
    ["::ffff:ffff", "::1:0:0", ["::255.255.255.255/128", "::1:0:0/128"]],
  ])("%s - %s is %j", (start, end, expected) => expect(range(start, end)).toEqual(expected));

  test("are as many as they can be at most", () => {
    expect(range("0.0.0.1", "255.255.255.254")).toHaveLength(62);
    expect(range("::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe")).toHaveLength(254);
  });
});

test("a range that ends before it starts, or in the other version, is refused", () => {
  expect(() => range("10.0.0.1", "10.0.0.0")).toThrow("no address range: 10.0.0.1 - 10.0.0.0");
  expect(() => range("10.0.0.1", "::ffff")).toThrow(RangeError);
});
