/** Texts whose encoding went wrong: what was meant is read, and counted. */

import { expect, test } from "@jest/globals";
import { ReadableText } from "../../src/readers/readable-text.ts";

const utf8 = (text: string) => Buffer.from(text);
const latin1 = (text: string) => Buffer.from(text, "latin1");
/** UTF-8 taken for windows-1252 and encoded as UTF-8 once more. */
const twice = (text: string) => utf8(new TextDecoder("windows-1252").decode(utf8(text)));

test.each<[string, Uint8Array, string, string[]]>([
  ["ASCII", utf8("Level 3"), "Level 3", []],
  ["UTF-8", utf8("Réseaux 東京 🇳🇱"), "Réseaux 東京 🇳🇱", []],
  ["Latin-1", latin1("Administración"), "Administración", ["lines that are not UTF-8, read as windows-1252: 1"]],
  ["windows-1252", Uint8Array.of(0x41, 0x93, 0x42, 0x94), "A“B”", ["lines that are not UTF-8, read as windows-1252: 1"]],
  [
    "Latin-1 in a line of UTF-8",
    Buffer.concat([utf8("São "), latin1("José "), utf8("東京")]),
    "São José 東京",
    ["lines that are not UTF-8, read as windows-1252: 1"],
  ],
  ["encoded twice", twice("Universität Zürich – Straße"), "Universität Zürich – Straße", ["texts that were encoded twice, corrected: 1"]],
  ["encoded three times", twice(twice("é").toString()), "é", ["texts that were encoded twice, corrected: 1"]],
  ["encoded twice, with bytes that windows-1252 leaves open", twice("Ávila Í"), "Ávila Í", ["texts that were encoded twice, corrected: 1"]],
  ["NULs", utf8("L\0e\0v\0e\0l"), "Level", ["texts with NUL characters, removed: 1"]],
  ["a byte order mark", utf8("\ufeffAS1"), "AS1", ["begins with a byte order mark"]],
  ["letters that only look like it", utf8("Ärger Â b"), "Ärger Â b", []],
])("reads %s", (_what, bytes, expected, notes) => {
  const texts = new ReadableText();
  expect(texts.decode(bytes, true)).toBe(expected);
  expect(texts.notes()).toEqual(notes);
});

test("a byte order mark counts at the beginning only", () => {
  const texts = new ReadableText();
  expect(texts.decode(utf8("\ufeffAS1"))).toBe("\ufeffAS1");
  expect(texts.notes()).toEqual([]);
});
