/** Lists as lines: RFC 4180 for CSV, with a guard against formulas. */

import { expect, test } from "@jest/globals";
import { csvCell, listText } from "../src/index.ts";

test.each([
  ["193.0.0.0/21", "193.0.0.0/21"],
  [0.5, "0.5"],
  [-1, "-1"],
  [true, "true"],
  [null, ""],
  [undefined, ""],
  ["", ""],
  [[3333, null, 64500], "3333 64500"],
  [[], ""],
  ["a,b", '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ["two\r\nlines", '"two\r\nlines"'],
  ["a=1", "a=1"],
])("%j is the cell %j", (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

test.each([
  ["=1+1", "'=1+1"],
  ["+49", "'+49"],
  ["-2", "'-2"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\tx", "'\tx"],
  ["\r=1", `"'\r=1"`],
  ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
])("%j, which a spreadsheet would take for a formula, is the cell %j", (value, cell) => {
  expect(csvCell(value)).toBe(cell);
});

test("an empty list has no lines, and in CSV its header", () => {
  const view = { list: "prefixes", columns: ["prefix", "is_moas"] } as const;
  expect(listText([], "ndjson", view)).toBe("");
  expect(listText([], "text", view)).toBe("");
  expect(listText([], "csv", view)).toBe("prefix,is_moas\r\n");
});
