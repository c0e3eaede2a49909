/** Each claim of the threat model names tests that are there, by their files and by a part of their names. */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";

const root = resolve(import.meta.dirname, "../..");
/** Of the page, what stands between the actors and the risks that remain. */
const sections = /\n## Keys\n([\s\S]*)\n## Remaining risks\n/.exec(readFileSync(join(root, "docs/threat-model.md"), "utf8"))?.[1] ?? "";
const link = /^ {2}- \[([^\]]+)\]\(\.\.\/([^)]+)\)$/;
const claims = sections.split(/\n(?=- )/).flatMap((text): [string, string[]][] => {
  const [claim = "", ...tests] = text.split("\n").filter((line) => line !== "" && !line.startsWith("## "));
  return claim === "" ? [] : [[claim, tests]];
});

test("there are claims", () => {
  expect(claims.length).toBeGreaterThan(50);
});

test.each(claims)("%s", (claim, lines) => {
  expect(claim).toMatch(/^- [A-Z`].*\.$/);
  const tests = lines.map((line) => ({ line, name: link.exec(line)?.[1] ?? "", path: link.exec(line)?.[2] ?? "" }));
  expect(tests.length).toBeGreaterThan(0);
  // A folder proves nothing.
  expect(tests.filter(({ path }) => !/(^|\/)test\/.+\.ts$/.test(path) || !existsSync(join(root, path)))).toEqual([]);
  expect(tests.filter(({ name, path }) => !readFileSync(join(root, path), "utf8").includes(name))).toEqual([]);
});
