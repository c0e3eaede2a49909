/** What a rollback takes back: versions of sources, one by one. */

import { expect, test } from "@jest/globals";
import { type Manifest, readTakenBack, type TakenBack, takenBackBy } from "../../src/index.ts";

/** `a1`: version 1 of source a. */
const manifest = (...versions: string[]) =>
  ({
    sections: { as_names: { sources: versions.map(([name = "", version = ""]) => ({ name, format: "csv", sha256: version })) } },
  }) as unknown as Manifest;
const shown = (taken: TakenBack) => taken.map(({ name, sha256 }) => name + sha256).sort();

test("only versions that the earlier snapshot does not have, and none of a source that failed", () => {
  const taken = takenBackBy(manifest("a2", "b1", "c1", "d"), manifest("a1", "b1", "d1"), []);
  expect(taken).toEqual([
    { section: "as_names", name: "a", format: "csv", sha256: "2" },
    { section: "as_names", name: "c", format: "csv", sha256: "1" },
  ]);
  expect(takenBackBy(manifest("a1"), { sections: {} } as Manifest, [])).toHaveLength(1);
});

test("a second rollback takes back more, and one that undoes it takes back nothing", () => {
  const [s1, s2, s3] = [manifest("a1", "b1"), manifest("a2", "b1"), manifest("a3", "b2")];
  const once = takenBackBy(s3, s2, []);
  expect(shown(once)).toEqual(["a3", "b2"]);
  const twice = takenBackBy(s2, s1, once);
  expect(shown(twice)).toEqual(["a2", "a3", "b2"]);
  expect(shown(takenBackBy(s1, s3, twice))).toEqual(["a2"]);
  expect(takenBackBy(s2, s3, once)).toEqual([]);
});

test("what a pointer has and is no version is left out", () => {
  const version = { section: "routes", name: "a", format: "mrt", sha256: "1" };
  expect(readTakenBack([null, 1, {}, { ...version, section: "other" }, { ...version, name: 1 }, version])).toEqual([version]);
  for (const value of [undefined, null, "", { length: 1 }]) expect(readTakenBack(value)).toEqual([]);
});
