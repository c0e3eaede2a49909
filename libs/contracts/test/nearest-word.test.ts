/** What a misspelt word is taken for. */

import { expect, test } from "@jest/globals";
import { nearestWord } from "@netfacts/contracts";

const known = ["origin", "upstreams", "more_specifics", "rpki"];

test.each([
  ["orgin", "origin"],
  ["upstream", "upstreams"],
  ["More-Specifics", "more_specifics"],
  ["rpk", "rpki"],
  ["prki", null],
  ["visibility", null],
  ["", null],
  ["origin".repeat(7), null],
])("%j: %j", (text, nearest) => {
  expect(nearestWord(text, known)).toBe(nearest);
});

test("a word of one letter is not taken for another", () => {
  expect(nearestWord("5", ["4", "6"])).toBeNull();
  expect(nearestWord("v4", ["4", "6"])).toBe("4");
});

test("the nearest of several, the first of those that are as near", () => {
  expect(nearestWord("formats", ["formal", "format"])).toBe("format");
  expect(nearestWord("fxrmat", ["format", "farmat"])).toBe("format");
});
