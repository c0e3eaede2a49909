/** Section `routes` of one to five collectors against plain maps: origins with their peers, unions, full feeds, upstreams, neighbours. */

import { describe, expect, test } from "@jest/globals";
import { comparePrefixes, formatPrefix, type Prefix, parsePrefix } from "@netfacts/address";
import { scanRib } from "@netfacts/mrt";
import { PrefixTrie, type PrefixTrieParts } from "@netfacts/prefix-trie";
import {
  columnPieces,
  decodeColumns,
  loadSection,
  lookupSpecialPurposePrefix,
  type PathsColumns,
  pathsFormat,
  RouteTable,
  routesFormat,
} from "@netfacts/snapshot";
import {
  pathBytes,
  peerIndexRecord,
  ribRecord,
  type WrittenPeer,
  type WrittenRoute,
} from "../../../../libs/mrt/test/support/mrt-writer.ts";
import fc from "../../../../test/support/properties.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { RibPass } from "../../src/assembly/rib-pass.ts";
import { type BuiltRoutes, buildRoutes } from "../../src/pipeline/build-routes.ts";
import type { RibReading } from "../../src/pipeline/rib-readers.ts";

interface MadeRib {
  /** The collector; its number among the RIBs when left out. */
  readonly name?: string;
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

const nameOf = ({ name }: MadeRib, number: number): string => name ?? `collector-${number}`;

async function readingOf({ peers, records }: MadeRib): Promise<RibReading> {
  const pass = new RibPass();
  const bytes = [peerIndexRecord(peers), ...records.map(({ prefix, routes, addPath = false }) => ribRecord(prefix, routes, { addPath }))];
  await scanRib(
    (async function* () {
      yield Buffer.concat(bytes);
    })(),
    pass,
  );
  // What the run tells of the file makes no difference here.
  return { report: { asOf: null as number | null }, table: pass.table(), paths: async () => pass.paths() } as RibReading;
}

interface Rule {
  readonly share: number;
  readonly min: { readonly ipv4: number; readonly ipv6: number };
}

const anyFeed: Rule = { share: 0.7, min: { ipv4: 1, ipv6: 1 } };

interface Built extends BuiltRoutes {
  readonly table: RouteTable;
  /** The section's object, and those of paths by name. */
  readonly objects: ReadonlyMap<string, Buffer>;
  readonly paths: ReadonlyMap<string, PathsColumns>;
  readonly peersTotal: { readonly ipv4: number; readonly ipv6: number };
}

async function built(ribs: readonly MadeRib[], rule = anyFeed, upstreamsMax = 5): Promise<Built> {
  const readings = new Map<string, RibReading>();
  for (const [number, rib] of ribs.entries()) readings.set(nameOf(rib, number), await readingOf(rib));
  const stored: Buffer[] = [];
  const put = async (pieces: readonly Uint8Array[]) => {
    const object = Buffer.concat(pieces);
    return { object: String(stored.push(object) - 1), bytes: object.length };
  };
  const config = {
    fullFeedShare: rule.share,
    fullFeedMin: rule.min,
    upstreamsMax,
    matchPeersMin: 2,
    historyKeptSeconds: null,
    sampleData: false,
  };
  const result = await buildRoutes(config, readings, put, async () => ({ columns: null, fault: null }));
  expect(readings.size).toBe(0);
  const object = Buffer.concat(columnPieces(routesFormat, result.columns));
  const bytes = new Uint8Array(new SharedArrayBuffer(object.length));
  bytes.set(object);
  // What is built must pass the checks of a pod.
  const { trie } = loadSection("routes", bytes);
  const objects = new Map<string, Buffer>([["routes", object]]);
  const paths = new Map<string, PathsColumns>();
  for (const [name, { object: number }] of Object.entries(result.ingestObjects)) {
    const of = stored[Number(number)] as Buffer;
    objects.set(name, of);
    if (name.startsWith("paths/")) paths.set(name, decodeColumns(pathsFormat, Uint8Array.from(of)));
  }
  return {
    ...result,
    table: new RouteTable({ columns: decodeColumns(routesFormat, bytes), trie: PrefixTrie.fromParts(trie as PrefixTrieParts) }),
    objects,
    paths,
    peersTotal: result.entry.peers_total ?? { ipv4: -1, ipv6: -1 },
  };
}

/** The origin of a path as text, by docs/design/semantics.md#which-routes-count: `AS64500`, `{1,2}` or `none`. */
function slowOrigin(path: string, peer: WrittenPeer): string {
  const set = /\{([\d,]*)\}$/.exec(path);
  if (set !== null) return `{${[...new Set((set[1] ?? "").split(",").map(Number))].sort((a, b) => a - b).join()}}`;
  const last = /(\d+)$/.exec(path);
  if (last !== null && last[1] !== "0") return `AS${last[1]}`;
  return peer.asn === 0 ? "none" : `AS${peer.asn}`;
}

/** The ASes of a path, prepends collapsed; null for one with a set, a confederation or a loop. */
function slowHops(path: string): number[] | null {
  if (/[{([]/.test(path)) return null;
  const hops = path
    .split(" ")
    .filter((text) => text !== "")
    .map(Number)
    .filter((asn, at, all) => at === 0 || asn !== all[at - 1]);
  return new Set(hops).size === hops.length ? hops : null;
}

/** What peers say of paths, each (prefix, peer, AS path) once: `prefix`, then the path's origin and ASes. */
function slowPaths(ribs: readonly MadeRib[]): { prefix: string; origin: string; hops: number[] }[] {
  const seen = new Map<string, { prefix: string; origin: string; hops: number[] }>();
  ribs.forEach(({ peers, records }, collector) => {
    for (const { prefix, routes } of records)
      for (const { peer: index, path: written } of routes) {
        const path = written ?? "";
        const peer = peers[index] as WrittenPeer;
        const text = formatPrefix(prefixOf(prefix));
        const hops = slowHops(path);
        const key = [text, collector, peer.address, peer.asn, pathBytes(path).toString("hex")].join(" ");
        if (hops !== null) seen.set(key, { prefix: text, origin: slowOrigin(path, peer), hops });
      }
  });
  return [...seen.values()];
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
const oddPath = fc.constantFrom(
  "64500 {2,1}",
  "64500 {7}",
  "64500 {1,2,2}",
  "64500 {1,2} 3",
  "",
  "(65000 65001)",
  "64500 (65001)",
  "(65000) 64500 2",
  "[65000,65001]",
  "{1} 9",
  "4294967295",
  Array.from({ length: 300 }, (_, at) => 70_000 + at).join(" "),
  [...Array.from({ length: 40 }, (_, at) => 70_000 + at), 70_003].join(" "),
);
const plainPath = fc
  .array(fc.constantFrom(1, 2, 3, 9, 64500, 64501, 4_294_967_295), { minLength: 1, maxLength: 5 })
  .map((hops) => hops.join(" "));
const path = fc.oneof({ weight: 3, arbitrary: plainPath }, { weight: 2, arbitrary: oddPath });
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
/** Only a router's own routes, of no peer, may name AS 0. */
const route = fc
  .record({ peer: fc.nat(peers.length - 1), path })
  .map((made) => (made.path === "4294967295" && peers[made.peer]?.asn === 0 ? { ...made, path: "0" } : made));
const record = fc.record({
  prefix: prefixText,
  routes: fc.array(route, { minLength: 1, maxLength: 6 }),
  addPath: fc.boolean(),
});
const rib = fc.record({ peers: fc.constant(peers), records: fc.array(record, { maxLength: 25 }) });
const ribs = fc.array(rib, { minLength: 1, maxLength: 5 });

test("prefixes, origins, peers, unions and full feeds are those of plain maps, whatever the order of the file", async () => {
  const rules = fc.record({
    share: fc.constantFrom(0.25, 0.5, 0.7, 1),
    min: fc.record({ ipv4: fc.integer({ min: 1, max: 4 }), ipv6: fc.integer({ min: 1, max: 4 }) }),
  });
  await fc.assert(
    fc.asyncProperty(ribs, rules, async (made, rule) => {
      const { table, peersTotal, entry, columns } = await built(made, rule);
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
      texts.forEach((text, at) => {
        const origins = slow.get(text) as Map<string, Set<string>>;
        const { version } = prefixOf(text);
        expect(table.prefixCounts(at)).toEqual(countsOf(union(origins), version));
        const found = table.origins(at);
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
      expect(entry.counts).toMatchObject({ ipv4: columns.v4_length.length, ipv6: columns.v6_length.length, origins: originCount });
      for (const asn of [0, 1, 2, 3, 9, 64500, 64501, 65001, 4_200_000_001, 4_294_967_295]) {
        const expected = texts.filter((text) => slow.get(text)?.has(`AS${asn}`) && prefixOf(text).length > 0);
        expect(Array.from(table.originatedBy(asn).entry, (at) => formatPrefix(table.prefixes.prefixAt(at)))).toEqual(expected);
      }
    }),
    { seed: seed(6396), numRuns: runs(400, 50) },
  );
});

/** Counts of items, the most frequent first, then by number. */
function counted(numbers: readonly number[]): { asn: number; paths: number }[] {
  const counts = new Map<number, number>();
  for (const asn of numbers) counts.set(asn, (counts.get(asn) ?? 0) + 1);
  return [...counts].map(([asn, paths]) => ({ asn, paths })).sort((a, b) => b.paths - a.paths || a.asn - b.asn);
}

test("upstreams of each origin are those next to it on its paths, the most frequent ones", async () => {
  await fc.assert(
    fc.asyncProperty(ribs, fc.constantFrom(0, 1, 3, 100), async (made, upstreamsMax) => {
      const { table } = await built(made, anyFeed, upstreamsMax);
      const slow = slowPaths(made);
      for (let entry = 0; entry < table.prefixes.base.size; entry++) {
        const text = formatPrefix(table.prefixes.prefixAt(entry));
        for (const { asn } of table.origins(entry)) {
          if (asn === null) continue;
          const own = slow.filter(({ prefix, origin }) => prefix === text && origin === `AS${asn}`);
          const next = own.flatMap(({ hops }) => hops.slice(-2, -1));
          expect(table.upstreamsOf(entry, asn)).toEqual({ paths: own.length, items: counted(next).slice(0, upstreamsMax) });
        }
        expect(table.upstreamsOf(entry, 77)).toBeNull();
      }
    }),
    { seed: seed(4271), numRuns: runs(200, 50) },
  );
});

test("neighbours of each AS are those next to it on any path but to a default route", async () => {
  await fc.assert(
    fc.asyncProperty(ribs, async (made) => {
      const { table } = await built(made);
      const slow = slowPaths(made).filter(({ prefix }) => !prefix.endsWith("/0"));
      const asns = new Set(slow.flatMap(({ hops }) => hops));
      for (const asn of [...asns, 77]) {
        const sides = slow.flatMap(({ prefix, hops }) => {
          const at = hops.indexOf(asn);
          if (at < 0) return [];
          const left = at > 0 ? [{ side: "left", asn: hops[at - 1] as number, first: at === 1, prefix }] : [];
          return at + 1 < hops.length ? [...left, { side: "right", asn: hops[at + 1] as number, first: false, prefix }] : left;
        });
        const expected = [...new Set(sides.map((one) => one.asn))]
          .sort((a, b) => a - b)
          .map((other) => {
            const own = sides.filter((one) => one.asn === other);
            const left = own.filter(({ side }) => side === "left");
            const pathsRight = own.length - left.length;
            const certain = left.some(({ first }) => !first);
            const position = certain ? (left.length >= pathsRight ? "left" : "right") : pathsRight > 0 ? "right" : "uncertain";
            const has = (colon: boolean) => own.some(({ prefix }) => prefix.includes(":") === colon);
            return { asn: other, position, pathsLeft: left.length, pathsRight, ipv4: has(false), ipv6: has(true) };
          });
        expect(table.neighboursOf(asn)).toEqual(expected);
      }
    }),
    { seed: seed(8195), numRuns: runs(150, 50) },
  );
});

test("the same RIBs give the same bytes, in whatever order they come", async () => {
  const named = ribs.map((list) => list.map((one, number) => ({ ...one, name: `c${number}` })));
  const shuffled = named.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
  );
  await fc.assert(
    fc.asyncProperty(shuffled, async ([made, other]) => {
      const [one, two] = [await built(made), await built(other)];
      expect([...two.objects]).toEqual([...one.objects]);
      expect(two.entry).toEqual(one.entry);
    }),
    { seed: seed(6), numRuns: runs(100, 50) },
  );
});

test("the objects of paths hold every route of their collector with its peer and path, each once", async () => {
  await fc.assert(
    fc.asyncProperty(ribs, async (made) => {
      const { paths } = await built(made);
      expect([...paths.keys()].sort()).toEqual(made.map((_, number) => `paths/collector-${number}`));
      for (const [number, { peers: own, records }] of made.entries()) {
        const of = paths.get(`paths/collector-${number}`) as PathsColumns;
        const trie = PrefixTrie.build({
          ipv4: { address: of.v4_address, length: of.v4_length },
          ipv6: { words: of.v6_words, length: of.v6_length },
        });
        const found: string[] = [];
        for (let entry = 0; entry < trie.size; entry++)
          for (let at = of.route_start[entry] as number; at < (of.route_start[entry + 1] as number); at++) {
            const [peer, name] = [of.route_peer[at] as number, of.route_path[at] as number];
            const bytes = Buffer.from(of.path_bytes.subarray(of.path_start[name] as number, of.path_start[name + 1] as number));
            const prefix = formatPrefix(trie.prefixAt(entry));
            found.push(`${prefix} ${of.peer_version[peer]} ${of.peer_asn[peer]} ${of.peer_words[peer * 4]} ${bytes.toString("hex")}`);
          }
        const expected = records.flatMap(({ prefix, routes }) =>
          routes.map(({ peer, path: text }) => {
            const { asn, address } = own[peer] as WrittenPeer;
            const { version, w0 } = prefixOf(`${address}/${address.includes(":") ? 128 : 32}`);
            return `${formatPrefix(prefixOf(prefix))} ${version} ${asn} ${w0} ${pathBytes(text ?? "").toString("hex")}`;
          }),
        );
        expect(found.sort()).toEqual([...new Set(expected)].sort());
      }
    }),
    { seed: seed(8050), numRuns: runs(150, 50) },
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
    expect([...both.paths.values()].map(({ peer_full }) => [...peer_full])).toEqual([[1], [1]]);
  });

  test("is measured against the largest peer of all collectors", async () => {
    const both = await built([feeds(10, 6), feeds(100)]);
    expect(both.peersTotal).toEqual({ ipv4: 1, ipv6: 0 });
    expect(both.table.prefixCounts(0)).toEqual({ full: 1, partial: 2 });
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

  test("where its prefix appears twice in the file, or with bits past its length", async () => {
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

test("tables beyond every first capacity are kept whole", async () => {
  const records = Array.from({ length: 40_000 }, (_, number) => ({
    prefix: `${11 + (number >> 14)}.${(number >> 6) & 255}.${(number & 63) << 2}.0/22`,
    routes: [{ peer: 0, path: `64500 ${number + 1} ${number + 2}` }],
  }));
  const { table, paths } = await built([{ peers: peers.slice(0, 1), records }]);
  expect(table.prefixes.base.size).toBe(40_000);
  expect(paths.get("paths/collector-0")?.path_start).toHaveLength(40_001);
  for (let number = 0; number < 40_000; number += 997) {
    const entry = table.prefixes.exact(prefixOf(records[number]?.prefix as string));
    expect(table.origins(entry)).toEqual([{ asn: number + 2, asSet: null, full: 1, partial: 0 }]);
    expect(table.upstreamsOf(entry, number + 2)).toEqual({ paths: 1, items: [{ asn: number + 1, paths: 1 }] });
    // 64500 is the first AS of each path: the others stand right of it.
    expect(table.neighboursOf(number + 2)).toContainEqual(
      expect.objectContaining({ asn: number + 1, position: "left", pathsLeft: 1, pathsRight: 0 }),
    );
  }
});
