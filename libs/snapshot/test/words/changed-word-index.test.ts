/** The index of changed texts against the one that is built anew, part by part. */

import { expect, test } from "@jest/globals";
import { seeded } from "../../../../test/support/random.ts";
import { runs, seed } from "../../../../test/support/runs.ts";
import { changedWordIndex } from "../../src/words/changed-word-index.ts";
import { buildWordIndex, WordIndex, type WordIndexParts } from "../../src/words/word-index.ts";

type Table = Map<number, string | null>;

const tables = runs(2_000);

const vocabulary = [
  "ripe",
  "ncc",
  "net",
  "nets",
  "ten",
  "réseau",
  "ＦＵＬＬ",
  "a",
  "b",
  "ab",
  "ba",
  "stra\u00dfe",
  "zürich",
  "7",
  "42",
  "--",
  "w".repeat(70),
  "\u{1f600}x",
];

function keyed(table: Table) {
  const rows = [...table].sort(([a], [b]) => a - b);
  return { keys: Uint32Array.from(rows, ([key]) => key), texts: rows.map(([, text]) => text) };
}

function built(table: Table, grouped: boolean): WordIndexParts {
  const steps = buildWordIndex(keyed(table).texts, { grouped });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

test.each([true, false])("any few changes give what is built anew (grouped: %s)", (grouped) => {
  const random = seeded(seed(grouped ? 1 : 2));
  const text = (): string | null => {
    if (random(12) === 0) return grouped ? null : "";
    return (
      Array.from({ length: random(4) }, () => vocabulary[random(vocabulary.length)]).join(" ") + (random(3) === 0 ? ` ${random(500)}` : "")
    );
  };
  let changedTables = 0;
  for (let run = 0; run < tables; run++) {
    const table: Table = new Map(Array.from({ length: 100 + random(100) }, () => [random(5_000), text()]));
    let parts = built(table, grouped);
    for (let step = 0; step < 4; step++) {
      const before = keyed(table);
      const keys = [...table.keys()];
      for (let change = random(6); change > 0; change--) {
        const key = keys[random(keys.length)] as number;
        const kind = random(4);
        if (kind === 0) table.delete(key);
        else if (kind === 1) table.set(random(5_000), text());
        // A text that another row has: the first of them changes.
        else if (kind === 2) table.set(key, table.get(keys[random(keys.length)] as number) ?? "x");
        else table.set(key, text());
      }
      const changed = changedWordIndex({ ...before, parts }, keyed(table), { grouped });
      parts = built(table, grouped);
      if (changed === null) continue;
      changedTables++;
      expect(changed).toEqual(parts);
      expect(changed.wordUnits.buffer).toBeInstanceOf(SharedArrayBuffer);
    }
  }
  expect(changedTables).toBeGreaterThan(tables);
});

test("too many changes are left to a new index, none give the same one, and a table may become empty or begin so", () => {
  const table: Table = new Map(Array.from({ length: 64 }, (_, key) => [key, `name ${key}`]));
  const parts = built(table, false);
  const other = (count: number): Table => new Map([...table].map(([key, text]) => [key, key < count ? `other ${key}` : text]));
  expect(changedWordIndex({ ...keyed(table), parts }, keyed(other(5)), { grouped: false })).toBeNull();
  expect(changedWordIndex({ ...keyed(table), parts }, keyed(other(4)), { grouped: false })).toEqual(built(other(4), false));
  expect(changedWordIndex({ ...keyed(table), parts }, keyed(table), { grouped: false })).toEqual(parts);
  const none: Table = new Map();
  expect(changedWordIndex({ ...keyed(table), parts }, keyed(none), { grouped: false })).toEqual(built(none, false));
  expect(changedWordIndex({ ...keyed(none), parts: built(none, false) }, keyed(table), { grouped: false })).toBeNull();
});

test("what is found by a changed index is found where it stands now", () => {
  const table: Table = new Map([[10, "Ripe NCC"], ...Array.from({ length: 40 }, (_, at): [number, string] => [100 + at, `net ${at}`])]);
  const parts = built(table, false);
  const before = keyed(table);
  table.set(5, "Ripened Fruit").delete(100);
  const index = new WordIndex(changedWordIndex({ ...before, parts }, keyed(table), { grouped: false }) as WordIndexParts);
  const rows: number[] = [];
  index.eachRange("ripe", (from, to) => rows.push(...index.parts.postingRow.subarray(from, to)));
  expect(rows).toEqual([1, 0]);
});
