/** Words of texts, and that the loader builds the same index as a table does when it is asked. */

import { expect, test } from "@jest/globals";
import { decodeColumns, encodeColumns, foldedWords, Generation, isOneEdit, kindOf, loadSection, type WordIndex } from "../../src/index.ts";
import { madeNames, madeProfiles } from "../support/made-sections.ts";
import { madeGeneration } from "../support/made-snapshot.ts";

test.each<[string, string[]]>([
  ["RIPE-NCC-AS Réseaux, IP", ["ripe", "ncc", "as", "reseaux", "ip"]],
  ["Straße STRASSE STRAẞE", ["strasse", "strasse", "strasse"]],
  ["Łódź Ægir Øre", ["lodz", "aegir", "ore"]],
  ["ﬁber Ｆｕｌｌ ½", ["fiber", "full", "1", "2"]],
  ["soft\u00adhyphen \u202eabc\u202c", ["softhyphen", "abc"]],
  ["ΟΔΟΣ ὁδός", ["οδοσ", "οδοσ"]],
  ["\u0000\u0007 -- ", []],
  ["İstanbul ıspanak", ["istanbul", "ispanak"]],
])("%j has the words %j", (text, words) => {
  expect(foldedWords(text).map((word) => word.text)).toEqual(words);
});

test("a word stands where it stood, with its accents; long texts and words are cut", () => {
  const text = "a Zu\u0308rich";
  expect(foldedWords(text).map(({ start, end }) => text.slice(start, end))).toEqual(["a", "Zu\u0308rich"]);
  expect(foldedWords("w ".repeat(100))).toHaveLength(32);
  expect(foldedWords(`${"w ".repeat(30)}ﷺ`)).toHaveLength(32);
  expect(foldedWords("w".repeat(10_000))).toEqual([{ text: "w".repeat(64), start: 0, end: 10_000 }]);
});

test.each([
  ["google", "gogle", true],
  ["google", "googlee", true],
  ["google", "goggle", true],
  ["google", "goolge", true],
  ["google", "google", false],
  ["google", "ggole", false],
  ["ab", "ba", true],
  ["", "a", true],
])("%s and %s are one edit apart: %s", (a, b, is) => {
  expect([isOneEdit(a, b), isOneEdit(b, a)]).toEqual([is, is]);
});

test("the loader builds the index of names and organisations where it is asked to, and a table else", () => {
  const made = {
    names: madeNames({ 1: "RIPE-NCC", 2: "Zürich", 3: "ripe" }),
    profiles: madeProfiles({ 1: { organisation: "RIPE" }, 2: { organisation: null }, 5: { organisation: "RIPE" } }),
  };
  const { manifest } = madeGeneration(made);
  const load = (words: boolean) => {
    const sections = Object.fromEntries(
      (["as_names", "profiles"] as const).map((name) => {
        const columns = name === "as_names" ? made.names : made.profiles;
        const bytes = encodeColumns(kindOf(name).format, columns as never);
        const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
        shared.set(bytes);
        decodeColumns(kindOf(name).format, shared);
        return [name, loadSection(name, shared, { words })];
      }),
    );
    return { sections, generation: Generation.of({ manifest, sections }) };
  };
  const built = (steps: Generator<void, WordIndex> | undefined): WordIndex["parts"] | undefined => {
    for (;;) {
      const step = steps?.next();
      if (step === undefined || step.done === true) return step?.value.parts;
    }
  };
  const [loaded, lazy] = [load(true), load(false)];
  expect(lazy.sections.as_names?.words).toBeUndefined();
  expect(loaded.sections.as_names?.words?.wordUnits.buffer).toBeInstanceOf(SharedArrayBuffer);
  for (const table of ["names", "profiles"] as const) {
    const parts = built(loaded.generation[table]?.words());
    expect(parts).toBe(loaded.sections[table === "names" ? "as_names" : "profiles"]?.words);
    expect(built(lazy.generation[table]?.words())).toEqual(parts);
  }
});
