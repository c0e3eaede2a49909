/** Section `vrps`: what is loose by a count of every authorised prefix, and which of two duplicates stays. */

import { expect, test } from "@jest/globals";
import { formatPrefix, makePrefix, type Prefix, parsePrefix } from "@netfacts/address";
import { PrefixTrie } from "@netfacts/prefix-trie";
import { type Vrp, VrpSet } from "@netfacts/rpki";
import { encodeColumns, loadSection, RouteTable, vrpsFormat } from "@netfacts/snapshot";
import { type MadeRoute, madeRoutes } from "../../../../libs/snapshot/test/support/made-sections.ts";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { buildVrps } from "../../src/assembly/vrps.ts";

const prefixOf = (text: string): Prefix => {
  const reading = parsePrefix(text);
  if (!reading.ok) throw new TypeError(text);
  return reading.prefix;
};

function tableOf(routes: readonly MadeRoute[]): RouteTable {
  const columns = madeRoutes(routes);
  return new RouteTable({
    columns,
    trie: PrefixTrie.build({
      ipv4: { address: columns.v4_address, length: columns.v4_length },
      ipv6: { words: columns.v6_words, length: columns.v6_length },
    }),
  });
}

/** The VRPs of a built section, read as a pod does. */
function read(sources: readonly Iterable<Vrp>[], routes: RouteTable | null): Vrp[] {
  const columns = buildVrps(sources, routes);
  const object = encodeColumns(vrpsFormat, columns);
  const bytes = new Uint8Array(new SharedArrayBuffer(object.length));
  bytes.set(object);
  loadSection("vrps", bytes);
  const names = Array.from({ length: columns.ta_start.length - 1 }, (_, at) =>
    Buffer.from(columns.ta_bytes.subarray(columns.ta_start[at], columns.ta_start[at + 1])).toString(),
  );
  const set = VrpSet.fromColumns(
    {
      prefixes: {
        ipv4: { address: columns.v4_address, length: columns.v4_length },
        ipv6: { words: columns.v6_words, length: columns.v6_length },
      },
      start: columns.vrp_start,
      asn: columns.asn,
      maxLength: columns.max_length,
      ta: columns.ta,
      expiresAt: columns.expires_at,
      loose: columns.loose,
    },
    names,
  );
  return Array.from({ length: set.size }, (_, at) => set.vrpAt(at));
}

const vrp = (text: string, asn: number, maxLength: number, over: Partial<Vrp> = {}): Vrp => ({
  prefix: prefixOf(text),
  asn,
  maxLength,
  ta: "ripe",
  expiresAt: null,
  loose: false,
  ...over,
});
const announced = (text: string, ...asns: number[]): MadeRoute => ({
  prefix: prefixOf(text),
  origins: asns.map((origin) => ({ origin, full: 1 })),
});

const step = (version: 4 | 6) =>
  fc.record({ length: fc.integer({ min: 20, max: 25 }), bits: fc.nat(31) }).map(({ length, bits }) => {
    const value = ((version === 4 ? 0x0b00_0000 : 0x2a00_0000) | (bits << 7)) >>> 0;
    return makePrefix(version, value, 0, 0, 0, length);
  });
const near = fc.oneof(step(4), step(6));

/** Every prefix that a VRP authorises, one by one. */
function authorised({ prefix, maxLength }: Vrp): Prefix[] {
  const list: Prefix[] = [];
  for (let length = prefix.length; length <= maxLength; length++)
    for (let number = 0; number < 2 ** (length - prefix.length); number++)
      list.push(makePrefix(prefix.version, prefix.w0 + number * 2 ** (32 - length), 0, 0, 0, length));
  return list;
}

test("a VRP is loose when its AS does not announce every prefix that it authorises", () => {
  const routes = fc.uniqueArray(fc.record({ prefix: near, asns: fc.subarray([1, 2, 3], { minLength: 1 }) }), {
    selector: ({ prefix }) => formatPrefix(prefix),
    maxLength: 60,
  });
  const vrps = fc.array(fc.record({ prefix: near, asn: fc.constantFrom(0, 1, 2), more: fc.nat(3) }), { maxLength: 20 });
  let looseSeen = 0;
  let tightSeen = 0;
  fc.assert(
    fc.property(routes, vrps, fc.boolean(), (made, wanted, complete) => {
      const list = wanted.map(({ prefix, asn, more }) => vrp(formatPrefix(prefix), asn, prefix.length + more));
      // Half of the time one VRP has all of its prefixes announced, which chance would not do.
      const whole = complete && list[0] !== undefined ? authorised(list[0]).map((prefix) => ({ prefix, asns: [list[0]?.asn ?? 0] })) : [];
      const all = new Map([...made, ...whole].map((one) => [formatPrefix(one.prefix), one]));
      const table = tableOf(
        [...all.values()].map(({ prefix, asns }) => ({ prefix, origins: asns.map((origin) => ({ origin, full: 1 })) })),
      );
      for (const found of read([list], table)) {
        const { prefix, asn, maxLength } = found;
        const every = authorised(found).every((one) => all.get(formatPrefix(one))?.asns.includes(asn));
        const expected = maxLength > prefix.length && asn !== 0 && !every;
        expect({ prefix: formatPrefix(prefix), maxLength, asn, loose: found.loose }).toEqual({
          prefix: formatPrefix(prefix),
          maxLength,
          asn,
          loose: expected,
        });
        if (expected) looseSeen++;
        else if (maxLength > prefix.length && asn !== 0) tightSeen++;
      }
    }),
    { seed: seed(9319), numRuns: runs(400) },
  );
  expect(Math.min(looseSeen, tightSeen)).toBeGreaterThan(runs(400) / 8);
});

test.each<[string, Vrp, MadeRoute[], boolean]>([
  [
    "all announced",
    vrp("11.0.0.0/23", 1, 24),
    [announced("11.0.0.0/23", 1), announced("11.0.0.0/24", 1), announced("11.0.1.0/24", 2, 1)],
    false,
  ],
  [
    "one by another AS",
    vrp("11.0.0.0/23", 1, 24),
    [announced("11.0.0.0/23", 1), announced("11.0.0.0/24", 1), announced("11.0.1.0/24", 2)],
    true,
  ],
  ["the covering one not announced", vrp("11.0.0.0/23", 1, 24), [announced("11.0.0.0/24", 1), announced("11.0.1.0/24", 1)], true],
  [
    "longer ones do not make up for it",
    vrp("11.0.0.0/23", 1, 24),
    [announced("11.0.0.0/23", 1), announced("11.0.0.0/24", 1), announced("11.0.0.0/25", 1)],
    true,
  ],
  ["a max length of its length", vrp("11.0.0.0/23", 1, 23), [], false],
  ["more than can be announced", vrp("2a00::/16", 1, 128), [announced("2a00::/16", 1)], true],
  ["AS 0", vrp("11.0.0.0/23", 0, 32), [], false],
])("%s", (_what, one, routes, loose) => {
  expect(read([[one]], tableOf(routes)).map((found) => found.loose)).toEqual([loose]);
});

test("without routes nothing is known to be loose", () => {
  expect(read([[vrp("11.0.0.0/8", 1, 24)]], null)[0]?.loose).toBe(false);
});

test("of duplicates across sources the latest expiry stays, and each is counted once", () => {
  const sources = [
    [vrp("11.0.0.0/8", 1, 8, { expiresAt: 100, ta: "arin" }), vrp("11.0.0.0/8", 2, 8, { expiresAt: 5 })],
    [vrp("11.0.0.0/8", 1, 8, { expiresAt: 300, ta: "apnic" }), vrp("11.0.0.0/8", 1, 9, { expiresAt: 1 })],
    [vrp("11.0.0.0/8", 1, 8, { expiresAt: 200, ta: "ripe" })],
  ];
  for (const order of [sources, sources.toReversed()])
    expect(read(order, null).map(({ asn, maxLength, expiresAt, ta }) => [asn, maxLength, expiresAt, ta])).toEqual([
      [1, 8, 300, "apnic"],
      [2, 8, 5, "ripe"],
      [1, 9, 1, "ripe"],
    ]);
  const columns = buildVrps(sources, null);
  expect([Array.from(columns.as_number), Array.from(columns.as_vrps)]).toEqual([
    [1, 2],
    [2, 1],
  ]);
});
