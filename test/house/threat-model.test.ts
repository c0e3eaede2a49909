/** Each claim of the threat model names a test that is there. */

import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "@jest/globals";

const root = resolve(import.meta.dirname, "../..");
const page = readFileSync(join(root, "docs/threat-model.md"), "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| ---") && !line.startsWith("| claim"));
const claims = rows.map((row) => row.split(" | ")).filter((cells) => cells.length === 2);

test("there are claims", () => {
  expect(claims.length).toBeGreaterThan(20);
});

test.each(claims.map(([claim = "", tests = ""]) => [claim.slice(2).trim(), tests] as const))("%s", (_claim, tests) => {
  const paths = [...tests.matchAll(/`([\w./-]+)`/g)].map(([, path = ""]) => path).filter((path) => path.includes("/"));
  const folders = paths.map((path) => path.replace(/^gateway\//, "services/gateway-auth-quota/test/"));
  expect(folders.filter((path) => !existsSync(join(root, path)))).toEqual([]);
  expect(folders.length + Number(/mutation suites/.test(tests))).toBeGreaterThan(0);
});
