/** Lines of comma-separated values. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { splitCsvLine } from "../../src/readers/csv.ts";
import { lineBytesMax } from "../../src/readers/lines.ts";

test.each([
  ["a,b", ["a", "b"]],
  [" a b ,\tc ,", ["a b", "c", ""]],
  ['"a,b", "c ""d""" ,e', ["a,b", 'c "d"', "e"]],
  ['"",', ["", ""]],
  ['"a', null],
  ['a"b"', null],
  ['"a" b', null],
])("%j has the fields %j", (line, fields) => {
  expect(splitCsvLine(line)).toEqual(fields);
});

// A cost that rises with the square of the length is a second and more for each of these lines.
test("a line of blanks, quotes or commas with a fault at its end is refused without trying each of its beginnings", async () => {
  const long = (unit: string) => unit.repeat(Math.floor((lineBytesMax - 4) / unit.length));
  for (let times = 0; times < 60; times++)
    for (const line of [`${long(" ")}x"`, `a,${long("\t")}"b"c`, `"${long('""')}x`, `"a"${long(" ")}x`, `${long('"a",')}"`]) {
      expect(splitCsvLine(line)).toBeNull();
      await nextTurn();
    }
}, 30_000);
