/** The table of a cache's VRPs against a Map of texts. */

import { expect, test } from "@jest/globals";
import { formatPrefix, makePrefix } from "@netfacts/address";
import { seeded } from "../../../../test/support/random.ts";
import { seed } from "../../../../test/support/runs.ts";
import { VrpTable, vrpsOf } from "../../src/rtr/index.ts";

const contentOf = (table: VrpTable) =>
  [...vrpsOf(table.records())].map(({ prefix, maxLength, asn }) => `${formatPrefix(prefix)}-${maxLength} ${asn}`).sort();

const without = (a: ReadonlySet<string>, b: ReadonlySet<string>) => [...a].filter((text) => !b.has(text)).length;

test("follows any sequence of transactions as sets of texts do", () => {
  const random = seeded(seed(6));
  const table = new VrpTable(4_000);
  let current = new Set<string>();
  for (let round = 0; round < 60; round++) {
    const all = random(5) === 0;
    const next = new Set(all ? [] : current);
    table.begin(all);
    for (let change = random(2_000); change > 0; change--) {
      const announce = random(3) > 0;
      const word = random(3_000);
      const isIpv4 = random(2) === 0;
      const prefix = isIpv4 ? makePrefix(4, word << 8, 0, 0, 0, 24) : makePrefix(6, 0x2001_0db8, word, 0, 0, 64);
      const maxLength = prefix.length + random(2);
      const text = `${formatPrefix(prefix)}-${maxLength} ${word % 7}`;
      const announced = next.size === 4_000 ? "full" : "applied";
      const expected = announce ? (next.has(text) ? "duplicate" : announced) : next.has(text) ? "applied" : "unknown";
      // A hundred thousand times `expect` would take longer than all else.
      const found = table.change(announce, prefix, maxLength, word % 7);
      if (found !== expected) throw new Error(`round ${round}: ${announce ? "+" : "-"}${text} is ${found}, not ${expected}`);
      if (expected === "applied" && announce) next.add(text);
      else if (expected === "applied") next.delete(text);
      if (change % 500 === 0) expect(table.size).toBe(current.size);
    }
    if (random(6) === 0) table.rollback();
    else {
      expect(table.commit()).toEqual({ added: without(next, current), withdrawn: without(current, next) });
      current = next;
    }
    expect(table.size).toBe(current.size);
    if (round % 10 === 0) expect(contentOf(table)).toEqual([...current].sort());
    if (random(30) === 0) {
      table.discard();
      current = new Set();
    }
  }
});

test("shows nothing of a transaction before it is committed", () => {
  const table = new VrpTable(10);
  const prefix = makePrefix(4, 0xc000_0200, 0, 0, 0, 24);
  table.begin(true);
  table.change(true, prefix, 24, 1);
  expect([table.size, contentOf(table)]).toEqual([0, []]);
  table.commit();
  table.begin(false);
  table.change(false, prefix, 24, 1);
  table.change(true, prefix, 25, 1);
  expect(contentOf(table)).toEqual(["192.0.2.0/24-24 1"]);
  table.commit();
  expect(contentOf(table)).toEqual(["192.0.2.0/24-25 1"]);
});

test("keeps a whole set that is being received when what is read is discarded", () => {
  const table = new VrpTable(10);
  const prefix = makePrefix(6, 0x2001_0db8, 0, 0, 0, 32);
  table.begin(true);
  table.change(true, prefix, 48, 1);
  table.commit();
  table.begin(true);
  table.change(true, prefix, 64, 2);
  table.discard();
  expect(contentOf(table)).toEqual([]);
  table.commit();
  expect(contentOf(table)).toEqual(["2001:db8::/32-64 2"]);
});

test("refuses more VRPs than it may hold", () => {
  const table = new VrpTable(1);
  table.begin(true);
  expect(table.change(true, makePrefix(4, 0, 0, 0, 0, 8), 8, 1)).toBe("applied");
  expect(table.change(true, makePrefix(4, 0, 0, 0, 0, 9), 9, 1)).toBe("full");
});
