/** Object `history`: what cannot be merged is refused. */

import { expect, test } from "@jest/globals";
import { checkHistory, decodeColumns, encodeColumns, type HistoryColumns, historyFormat, SectionFormatError } from "../../src/index.ts";

const history: HistoryColumns = {
  v4_address: Uint32Array.of(0xc000_0200, 0xc000_0200, 0xc633_6400),
  v4_length: Uint8Array.of(24, 25, 24),
  v6_words: Uint32Array.of(0x2001_0db8, 0, 0, 0, 0x2001_0db8, 0, 1, 0),
  v6_length: Uint8Array.of(32, 96),
  origin_start: Uint32Array.of(0, 2, 3, 4, 5, 6),
  origin_as: Uint32Array.of(64500, 64501, 64500, 0, 64502, 64502),
  first_seen: Uint32Array.of(10, 20, 10, 30, 30, 40),
  last_seen: Uint32Array.of(40, 20, 30, 40, 30, 40),
  as_number: Uint32Array.of(0, 64500, 64501, 64502),
  as_first_seen: Uint32Array.of(30, 10, 20, 30),
  as_last_seen: Uint32Array.of(40, 40, 20, 40),
};

const changed = (change: (columns: Record<string, Uint8Array | Uint32Array>) => void): HistoryColumns => {
  const columns = Object.fromEntries(Object.entries(history).map(([name, array]) => [name, array.slice()]));
  change(columns);
  return decodeColumns(historyFormat, encodeColumns(historyFormat, columns as unknown as HistoryColumns));
};

test("is read as it was written", () => {
  const columns = changed(() => undefined);
  expect(() => checkHistory(columns)).not.toThrow();
  expect(columns).toEqual(history);
});

test.each(Object.keys(history))("is refused with an item of %s more or less", (name) => {
  for (const by of [-1, 1]) {
    const resized = changed((columns) => {
      const array = columns[name] as Uint32Array;
      const other = new (array.constructor as Uint32ArrayConstructor)(array.length + by);
      other.set(array.subarray(0, other.length));
      columns[name] = other;
    });
    expect(() => checkHistory(resized)).toThrow(SectionFormatError);
  }
});

test.each([
  ["v4_address", 2, 0xc000_0200],
  ["v4_length", 1, 24],
  ["v4_length", 2, 33],
  ["v6_words", 4, 0x2001_0db7],
  ["v6_length", 0, 129],
  ["origin_start", 1, 4],
  ["origin_as", 1, 64500],
  ["first_seen", 1, 21],
  ["first_seen", 0, 0],
  ["last_seen", 4, 29],
  ["as_number", 1, 0],
  ["as_first_seen", 0, 41],
  ["as_last_seen", 0, 29],
])("is refused with %s[%i] = %i", (name, index, value) => {
  const planted = changed((columns) => {
    (columns[name] as Uint32Array)[index] = value;
  });
  expect(() => checkHistory(planted)).toThrow(SectionFormatError);
});
