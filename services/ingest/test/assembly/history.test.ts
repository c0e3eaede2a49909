/** The merge of a history by itself: its bounds, and tables that do not tell their time. What it makes of runs is in `../pipeline`. */

import { expect, test } from "@jest/globals";
import { PrefixTrie } from "@netfacts/prefix-trie";
import { checkHistory, type HistoryColumns, type RoutesColumns, RouteTable, routesFormat } from "@netfacts/snapshot";
import { madeRoutes, route } from "../../../../libs/snapshot/test/support/made-sections.ts";
import { type MergedHistory, mergeHistory } from "../../src/assembly/history.ts";

interface Options {
  readonly before?: MergedHistory | null;
  readonly kept?: number | null;
  readonly most?: number;
  readonly asn?: number;
}

/** Imports a table that has so many /24s of an AS (1), from the `first` on, at a time. */
function imported(time: number, first: number, count: number, { before = null, kept = null, most, asn = 1 }: Options = {}) {
  const texts = Array.from(
    { length: count },
    (_, at) => `${11 + ((first + at) >> 16)}.${((first + at) >> 8) & 255}.${(first + at) & 255}.0/24`,
  );
  const columns = madeRoutes(texts.map((text) => route(text, [asn, 1])));
  const times = { first: new Uint32Array(count).fill(time), last: new Uint32Array(count).fill(time) };
  const merged = mergeHistory(columns, times, before?.history ?? null, {
    now: time,
    keptSeconds: kept,
    ...(most !== undefined && { withdrawnMax: most }),
  });
  checkHistory(merged.history);
  return { ...merged, columns: { ...columns, ...merged.seen } };
}

const tableOf = (columns: RoutesColumns): RouteTable =>
  new RouteTable({
    columns,
    trie: PrefixTrie.build({
      ipv4: { address: columns.v4_address, length: columns.v4_length },
      ipv6: { words: columns.v6_words, length: columns.v6_length },
    }),
  });

const lastSeen = ({ history }: { history: HistoryColumns }) => [...history.last_seen];

test("of more than may be kept, those that were seen longest ago go first, all of one time together", () => {
  let merged = imported(100, 0, 4);
  merged = imported(200, 10, 3, { before: merged });
  merged = imported(300, 20, 2, { before: merged });
  expect(imported(400, 30, 1, { before: merged, most: 9 })).toMatchObject({ withdrawn: 9, forgotten: 0 });
  const fewer = imported(400, 30, 1, { before: merged, most: 8 });
  expect(fewer).toMatchObject({ withdrawn: 5, forgotten: 4 });
  expect(lastSeen(fewer)).toEqual([200, 200, 200, 300, 300, 400]);
  expect(lastSeen(imported(400, 30, 1, { before: merged, most: 4 }))).toEqual([300, 300, 400]);
  expect(imported(400, 30, 1, { before: merged, most: 1 })).toMatchObject({ withdrawn: 0, forgotten: 9 });
  // The AS was seen before what is forgotten of its prefixes.
  expect([...fewer.history.as_first_seen]).toEqual([100]);
});

test("what is announced is kept however long ago it was seen, what is not until its time has passed", () => {
  const before = imported(100, 0, 2);
  expect(lastSeen(imported(200, 1, 1, { before, kept: 100 }))).toEqual([100, 200]);
  expect(lastSeen(imported(201, 1, 1, { before, kept: 100 }))).toEqual([201]);
  expect(lastSeen(imported(1_000_000, 1, 1, { before, kept: null }))).toEqual([100, 1_000_000]);
  const ases = (time: number) => [...imported(time, 0, 2, { before, kept: 100, asn: 2 }).history.as_number];
  expect([ases(200), ases(201)]).toEqual([[1, 2], [2]]);
});

test("a table that does not tell its time leaves all times as they were, and begins none", () => {
  const merged = imported(0, 0, 2, { before: imported(100, 1, 2), kept: 10 });
  expect(lastSeen(merged)).toEqual([100, 100]);
  const table = tableOf(merged.columns);
  expect([table.seen(0, 1), table.seen(1, 1)]).toEqual([
    { first: 0, last: 0 },
    { first: 100, last: 100 },
  ]);
  expect(table.seenAs(1)).toEqual({ first: 100, last: 100 });
  expect(imported(0, 0, 2).history.as_number).toHaveLength(0);
});

test("65,535 times of last sight are told apart in the section; still older ones are not told there, and are not lost", () => {
  const count = 65_537;
  const before = imported(50, 0, count);
  for (let at = 0; at < count; at++) before.history.last_seen[at] = 100 + at;
  const merged = imported(60, 0, count, { before });
  expect(Object.keys(routesFormat.columns)).toEqual(expect.arrayContaining(Object.keys(merged.seen)));
  const table = tableOf(merged.columns);
  expect([0, 1, 2, count - 1].map((entry) => table.seen(entry, 1))).toEqual([
    { first: 0, last: 0 },
    { first: 0, last: 0 },
    { first: 50, last: 102 },
    { first: 50, last: 100 + count - 1 },
  ]);
  expect(lastSeen(merged).slice(0, 3)).toEqual([100, 101, 102]);
});
