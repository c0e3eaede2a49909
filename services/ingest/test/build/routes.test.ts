/** Section `routes` against plain maps: origins with their peers, unions, full feeds, and the index by AS. */

import { describe, expect, test } from "@jest/globals";
import { comparePrefixes, formatPrefix, type Prefix, parsePrefix } from "@netfacts/address";
import { encodeColumns, loadSection, lookupSpecialPurposePrefix, RouteTable, routesFormat } from "@netfacts/dataset";
import { scanRib } from "@netfacts/mrt";
import { PrefixTrie, type PrefixTrieParts } from "@netfacts/prefix-trie";
import fc from "fast-check";
import {
  pathBytes,
  peerIndexRecord,
  ribRecord,
  type WrittenPeer,
  type WrittenRoute,
} from "../../../../libs/mrt/test/support/mrt-writer.ts";
import { RibPass } from "../../src/build/rib-pass.ts";
import { type BuiltRoutes, buildRoutes } from "../../src/build/routes.ts";

interface MadeRib {
  readonly peers: readonly WrittenPeer[];
  /** Records in the order of the file; a prefix may stand twice. */
  readonly records: readonly { readonly prefix: string; readonly routes: readonly WrittenRoute[]; readonly addPath?: boolean }[];
}

const prefixOf = (text: string): Prefix => {
  const reading = parsePrefix(text);
  if (reading.ok) return reading.prefix;
  if (reading.fault === "host-bits") return reading.corrected;
  throw new TypeError(text);
};

async function passOf(ribs: readonly MadeRib[]): Promise<RibPass> {
  const pass = new RibPass();
  for (const [number, { peers, records }] of ribs.entries()) {
    pass.beginCollector(`collector-${number}`);
    const bytes = [peerIndexRecord(peers), ...records.map(({ prefix, routes, addPath = false }) => ribRecord(prefix, routes, { addPath }))];
    await scanRib(
      (async function* () {
        yield Buffer.concat(bytes);
      })(),
      pass,
    );
  }
  return pass;
}

const anyFeed = { share: 0.7, min: { ipv4: 1, ipv6: 1 } };

async function built(ribs: readonly MadeRib[], rule = anyFeed): Promise<BuiltRoutes & { table: RouteTable }> {
  const result = buildRoutes(await passOf(ribs), rule);
  const object = encodeColumns(routesFormat, result.routes);
  const bytes = new Uint8Array(new SharedArrayBuffer(object.length));
  bytes.set(object);
  // What is built must pass the checks of a pod.
  const { trie } = loadSection("routes", bytes);
  return { ...result, table: new RouteTable({ columns: result.routes, trie: PrefixTrie.fromParts(trie as PrefixTrieParts) }) };
}

/** The origin of a path as text, by the rule of SEMANTICS: `AS64500`, `{1,2}` or `none`. */
function slowOrigin(path: string, peer: WrittenPeer): string {
  const set = /\{([\d,]*)\}$/.exec(path);
  if (set !== null) return `{${[...new Set((set[1] ?? "").split(",").map(Number))].sort((a, b) => a - b).join()}}`;
  const last = /(\d+)$/.exec(path);
  if (last !== null) return `AS${last[1]}`;
  return peer.asn === 0 ? "none" : `AS${peer.asn}`;
}

/** Everything of a RIB by plain maps: per prefix, per origin, the peers as text. */
function slowRoutes(ribs: readonly MadeRib[]): Map<string, Map<string, Set<string>>> {
  const prefixes = new Map<string, Map<string, Set<string>>>();
  ribs.forEach(({ peers, records }, collector) => {
    for (const { prefix, routes } of records) {
      const text = formatPrefix(prefixOf(prefix));
      const origins = prefixes.get(text) ?? new Map<string, Set<string>>();
      if (routes.length > 0) prefixes.set(text, origins);
      for (const { peer: index, path } of routes) {
        const peer = peers[index] as WrittenPeer;
        const origin = slowOrigin(path ?? "", peer);
        const seen = origins.get(origin) ?? new Set<string>();
        origins.set(origin, seen.add(`${collector} ${peer.address} ${peer.asn}`));
      }
    }
  });
  return prefixes;
}

const union = (origins: ReadonlyMap<string, ReadonlySet<string>>): Set<string> =>
  new Set([...origins.values()].flatMap((peers) => [...peers]));

function slowFullFeeds(routes: ReturnType<typeof slowRoutes>, version: 4 | 6, share: number, min: number): Set<string> {
  const sizes = new Map<string, number>();
  const [shortest, longest] = version === 4 ? [8, 24] : [16, 48];
  for (const [text, origins] of routes) {
    const prefix = prefixOf(text);
    if (prefix.version !== version || prefix.length < shortest || prefix.length > longest || lookupSpecialPurposePrefix(prefix) !== null)
      continue;
    for (const peer of union(origins)) sizes.set(peer, (sizes.get(peer) ?? 0) + 1);
  }
  const largest = Math.max(0, ...sizes.values());
  return new Set([...sizes].flatMap(([peer, size]) => (size >= min && size * 1000 >= Math.round(share * 1000) * largest ? [peer] : [])));
}

const peers: readonly WrittenPeer[] = [
  { address: "192.0.2.1", asn: 64500 },
  { address: "192.0.2.2", asn: 64500 },
  { address: "2001:db8::1", asn: 4_200_000_001 },
  { address: "192.0.2.4", asn: 0 },
  { address: "192.0.2.1", asn: 64501 },
];
const path = fc.constantFrom(
  "64500 1",
  "64500 2 3",
  "64501 1",
  "3",
  "64500 {2,1}",
  "64500 {7}",
  "64500 {1,2,2}",
  "",
  "(65000 65001)",
  "64500 (65001)",
  "[65000,65001]",
  "{1} 9",
  "4294967295",
);
const prefixText = fc.constantFrom(
  "0.0.0.0/0",
  "11.0.0.0/8",
  "11.0.0.0/9",
  "11.1.0.0/16",
  "11.1.2.0/24",
  "11.1.2.0/25",
  "10.0.0.0/8",
  "9.0.0.0/7",
  "255.255.255.255/32",
  "::/0",
  "2a00::/16",
  "2a00::/32",
  "2a00:1::/32",
  "2a00:1::/48",
  "2a00:1::/49",
  "2001:db8::/32",
  "ffff::/15",
);
const record = fc.record({
  prefix: prefixText,
  routes: fc.array(fc.record({ peer: fc.nat(peers.length - 1), path }), { minLength: 1, maxLength: 6 }),
  addPath: fc.boolean(),
});
const ribs = fc.array(fc.record({ peers: fc.constant(peers), records: fc.array(record, { maxLength: 25 }) }), {
  minLength: 1,
  maxLength: 3,
});

test("prefixes, origins, peers, unions and full feeds are those of plain maps, whatever the order of the file", async () => {
  const rules = fc.record({
    share: fc.constantFrom(0.25, 0.5, 0.7, 1),
    min: fc.record({ ipv4: fc.integer({ min: 1, max: 4 }), ipv6: fc.integer({ min: 1, max: 4 }) }),
  });
  await fc.assert(
    fc.asyncProperty(ribs, rules, async (made, rule) => {
      const { table, peersTotal, counts, routes } = await built(made, rule);
      const slow = slowRoutes(made);
      const full = { 4: slowFullFeeds(slow, 4, rule.share, rule.min.ipv4), 6: slowFullFeeds(slow, 6, rule.share, rule.min.ipv6) };
      expect(peersTotal).toEqual({ ipv4: full[4].size, ipv6: full[6].size });
      const texts = [...slow.keys()].sort((a, b) => comparePrefixes(prefixOf(a), prefixOf(b)));
      expect(Array.from({ length: table.prefixes.base.size }, (_, entry) => formatPrefix(table.prefixes.prefixAt(entry)))).toEqual(texts);
      const countsOf = (seen: ReadonlySet<string>, version: 4 | 6) => {
        const few = [...seen].filter((peer) => full[version].has(peer)).length;
        return { full: few, partial: seen.size - few };
      };
      let originCount = 0;
      texts.forEach((text, entry) => {
        const origins = slow.get(text) as Map<string, Set<string>>;
        const { version } = prefixOf(text);
        expect(table.prefixCounts(entry)).toEqual(countsOf(union(origins), version));
        const found = table.origins(entry);
        const named = found.map(({ asn, asSet, ...seen }) => [
          asSet === null ? (asn === null ? "none" : `AS${asn}`) : `{${asSet.join()}}`,
          seen,
        ]);
        expect(Object.fromEntries(named)).toEqual(
          Object.fromEntries([...origins].map(([origin, seen]) => [origin, countsOf(seen, version)])),
        );
        expect(found.map(({ full: f, partial: p }) => -(f * 1000 + p))).toEqual(
          found.map(({ full: f, partial: p }) => -(f * 1000 + p)).sort((a, b) => a - b),
        );
        originCount += found.length;
      });
      expect(counts).toMatchObject({ ipv4: routes.v4_length.length, ipv6: routes.v6_length.length, origins: originCount });
      for (const asn of [0, 1, 2, 3, 9, 64500, 64501, 65001, 4_200_000_001, 4_294_967_295]) {
        const expected = texts.filter((text) => slow.get(text)?.has(`AS${asn}`) && prefixOf(text).length > 0);
        expect(table.originatedBy(asn).map(({ entry }) => formatPrefix(table.prefixes.prefixAt(entry)))).toEqual(expected);
      }
    }),
    { seed: 6396, numRuns: 400 },
  );
});

test("the object of paths holds every route with its peer and path", async () => {
  await fc.assert(
    fc.asyncProperty(ribs, async (made) => {
      const pass = await passOf(made);
      const { paths, routes } = buildRoutes(pass, anyFeed);
      const found: string[] = [];
      const entries = [
        ...Array.from(routes.v4_length, (_, at) => at),
        ...Array.from(routes.v6_length, (_, at) => routes.v4_length.length + at),
      ];
      for (const entry of entries)
        for (let at = paths.route_start[entry] as number; at < (paths.route_start[entry + 1] as number); at++) {
          const number = paths.route_path[at] as number;
          const peer = paths.route_peer[at] as number;
          const bytes = Buffer.from(paths.path_bytes.subarray(paths.path_start[number] as number, paths.path_start[number + 1] as number));
          found.push(
            `${entry} ${paths.peer_collector[peer]} ${paths.peer_asn[peer]} ${paths.peer_words[peer * 4]} ${bytes.toString("hex")}`,
          );
        }
      const texts = [...slowRoutes(made).keys()].sort((a, b) => comparePrefixes(prefixOf(a), prefixOf(b)));
      const expected = made.flatMap(({ peers: own, records }, collector) =>
        records.flatMap(({ prefix, routes: list }) =>
          list.map(({ peer, path: text }) => {
            const { asn, address } = own[peer] as WrittenPeer;
            return `${texts.indexOf(formatPrefix(prefixOf(prefix)))} ${collector} ${asn} ${prefixOf(`${address}/${address.includes(":") ? 128 : 32}`).w0} ${pathBytes(text ?? "").toString("hex")}`;
          }),
        ),
      );
      expect(found.sort()).toEqual(expected.sort());
    }),
    { seed: 8050, numRuns: 150 },
  );
});

/** A RIB in which each peer carries the first so many of 100 /16s. */
const feeds = (...sizes: number[]): MadeRib => ({
  peers: sizes.map((_, peer) => ({ address: `192.0.2.${peer + 1}`, asn: 64500 + peer })),
  records: Array.from({ length: 100 }, (_, number) => ({
    prefix: `11.${number}.0.0/16`,
    routes: sizes.flatMap((size, peer) => (number < size ? [{ peer, path: "1" }] : [])),
  })).filter(({ routes }) => routes.length > 0),
});

describe("a full feed", () => {
  test("carries 70 % of the largest peer's prefixes, exactly 70 % too", async () => {
    expect((await built([feeds(100, 70, 69)])).peersTotal.ipv4).toBe(2);
    expect((await built([feeds(10, 7, 6)])).peersTotal.ipv4).toBe(2);
    for (let size = 1; size <= 10; size++) expect((await built([feeds(size * 10, size * 7, size * 7 - 1)])).peersTotal.ipv4).toBe(2);
  });

  test("carries the minimum, exactly it too; without such a peer there is none", async () => {
    const withMin = async (ipv4: number) => (await built([feeds(100, 99)], { share: 0.7, min: { ipv4, ipv6: 1 } })).peersTotal.ipv4;
    expect([await withMin(99), await withMin(100), await withMin(101)]).toEqual([2, 1, 0]);
  });

  test("is not made by default routes, special-purpose space, or prefixes too short or too long", async () => {
    const junk = ["0.0.0.0/0", "10.0.0.0/8", "192.168.1.0/24", "8.0.0.0/7", "11.0.0.0/25", "11.0.0.1/32", "224.1.0.0/16"];
    const records = [
      ...junk.map((prefix) => ({ prefix, routes: [{ peer: 1, path: "1" }] })),
      { prefix: "12.0.0.0/8", routes: [{ peer: 0, path: "1" }] },
    ];
    const { peersTotal, table } = await built([{ peers: peers.slice(0, 2), records }]);
    expect(peersTotal).toEqual({ ipv4: 1, ipv6: 0 });
    expect(table.prefixCounts(table.prefixes.exact(prefixOf("10.0.0.0/8")))).toEqual({ full: 0, partial: 1 });
  });

  test("is one per family and collector", async () => {
    const one = feeds(10);
    const both = await built([one, one]);
    expect(both.peersTotal).toEqual({ ipv4: 2, ipv6: 0 });
    expect(both.table.prefixCounts(0)).toEqual({ full: 2, partial: 0 });
    expect(Array.from(both.paths.peer_full)).toEqual([1, 1]);
  });
});

describe("a peer counts once", () => {
  const seenBy = async (made: MadeRib) => {
    const { table } = await built([made]);
    return { prefix: table.prefixCounts(0).full, origins: table.origins(0).map(({ asn, full }) => `${asn}:${full}`) };
  };

  test("per prefix and origin, however many paths it has", async () => {
    const routes = [
      { peer: 0, path: "64500 1", pathId: 1 },
      { peer: 0, path: "64500 2 1", pathId: 2 },
      { peer: 0, path: "64500 3", pathId: 3 },
      { peer: 1, path: "1", pathId: 1 },
    ];
    expect(await seenBy({ peers: peers.slice(0, 2), records: [{ prefix: "11.0.0.0/8", routes, addPath: true }] })).toEqual({
      prefix: 2,
      origins: ["1:2", "3:1"],
    });
  });

  test("where its prefix stands twice in the file, or with bits past its length", async () => {
    const routes = [{ peer: 0, path: "1" }];
    const records = [
      { prefix: "11.0.0.0/15", routes },
      { prefix: "12.0.0.0/8", routes },
      { prefix: "11.1.0.0/15", routes },
    ];
    expect(await seenBy({ peers: peers.slice(0, 1), records })).toEqual({ prefix: 1, origins: ["1:1"] });
  });

  test("where the peer index names it twice", async () => {
    const twice = [peers[0] as WrittenPeer, peers[0] as WrittenPeer];
    const routes = [
      { peer: 0, path: "1" },
      { peer: 1, path: "1" },
    ];
    expect(await seenBy({ peers: twice, records: [{ prefix: "11.0.0.0/8", routes }] })).toEqual({ prefix: 1, origins: ["1:1"] });
  });
});

test("the same RIBs give the same bytes", async () => {
  const bytes = async () => encodeColumns(routesFormat, (await built([feeds(10, 7), feeds(3)])).routes);
  expect((await bytes()).equals(await bytes())).toBe(true);
});

test("tables beyond every first capacity are kept whole", async () => {
  const records = Array.from({ length: 40_000 }, (_, number) => ({
    prefix: `${11 + (number >> 14)}.${(number >> 6) & 255}.${(number & 63) << 2}.0/22`,
    routes: [{ peer: 0, path: `64500 ${number} ${number + 1}` }],
  }));
  const { table, paths } = await built([{ peers: peers.slice(0, 1), records }]);
  expect(table.prefixes.base.size).toBe(40_000);
  expect(paths.path_start).toHaveLength(40_001);
  for (let number = 0; number < 40_000; number += 997) {
    const entry = table.prefixes.exact(prefixOf(records[number]?.prefix as string));
    expect(table.origins(entry)).toEqual([{ asn: number + 1, asSet: null, full: 1, partial: 0 }]);
  }
});
