/** How the files of tests are grouped and ordered. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { readSources } from "../../scripts/imports/read-sources.ts";
import { isLarge, runsAlone, startsProcesses } from "../support/test-groups.ts";
import { inOrder } from "../support/test-order.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-groups-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): string {
  const full = join(folder, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

test("a file starts processes when it reaches a module that does, also in a circle, and not by types alone", () => {
  write("support/process.ts", 'import { spawn } from "node:child_process";\nimport "./circle.ts";');
  write("support/circle.ts", 'export * from "./process.ts";');
  write("support/types.ts", 'import type { ChildProcess } from "node:child_process";');
  expect(startsProcesses(write("a.test.ts", 'import { run } from "./support/circle.ts";'))).toBe(true);
  expect(startsProcesses(write("b.test.ts", 'import { type Child } from "./support/types.ts";'))).toBe(false);
  expect(startsProcesses(write("c.test.ts", 'import "./support/not-there.ts";'))).toBe(false);
});

test("a file runs alone when its first comment says so", () => {
  expect(runsAlone(write("a.test.ts", "/**\n * Deadlines.\n *\n * @alone It asserts deadlines.\n */\n"))).toBe(true);
  expect(runsAlone(write("b.test.ts", "/** Deadlines. */\n/** @alone */\n"))).toBe(false);
  expect(runsAlone(write("c.test.ts", "// @alone\n"))).toBe(false);
  expect(runsAlone(write("d.test.ts", "/** Not an@alone.example. */\n"))).toBe(false);
});

test("a file is large when its first comment says so", () => {
  expect(isLarge(write("a.test.ts", "/**\n * Every file.\n *\n * @large It reads a million lines.\n */\n"))).toBe(true);
  expect(isLarge(write("b.test.ts", "/** Every file. */\n/** @large */\n"))).toBe(false);
});

test("no source of a package starts a process, so that grouping may look at relative imports only", async () => {
  const { packages } = await readSources(resolve(import.meta.dirname, "../.."));
  const sources = packages.flatMap((each) => each.files).filter(({ path }) => path.split("/")[2] === "src");
  expect(sources.length).toBeGreaterThan(300);
  const starting = sources.filter(({ imports }) => imports.some(({ specifier }) => /^(node:)?child_process$/.test(specifier)));
  expect(starting.map(({ path }) => path)).toEqual([]);
});

test("the longest files of each kind come first, and both kinds are spread over the run", () => {
  const file = (name: string, text: string, ms: number) => ({ path: write(name, text), ms });
  const files = [
    ...[10, 40, 30, 20].map((ms) => file(`waiting-${ms}.test.ts`, 'import "node:child_process";', ms)),
    ...[100, 400, 300, 200].map((ms) => file(`computing-${ms}.test.ts`, "", ms)),
  ];
  const sorted = inOrder(files.map(({ path, ms }) => ({ path, ms, bytes: 0 })));
  const names = sorted.map(({ path }) => path.slice(folder.length + 1, -".test.ts".length));
  expect(names).toEqual([
    ...["waiting-40", "computing-400", "waiting-30", "computing-300", "waiting-20", "computing-200"],
    ...["waiting-10", "computing-100"],
  ]);
});

test("files that were never timed are ordered by size", () => {
  const files = [1, 3, 2].map((bytes) => ({ path: write(`${bytes}.test.ts`, ""), bytes, ms: undefined }));
  expect(inOrder(files).map(({ bytes }) => bytes)).toEqual([3, 2, 1]);
});

test("a file that took long without large inputs has waited, and is spread as those that start processes are", () => {
  const large = write("large.test.ts", "/** All of it.\n *\n * @large It is long.\n */\n");
  const long = [1, 2].map((at) => write(`long-${at}.test.ts`, ""));
  const short = [1, 2].map((at) => write(`short-${at}.test.ts`, ""));
  const files = [{ path: large, ms: 9_000 }, ...long.map((path) => ({ path, ms: 8_000 })), ...short.map((path) => ({ path, ms: 3_000 }))];
  const sorted = inOrder(files.map((file) => ({ ...file, bytes: 0 }))).map(({ path }) => path);
  expect(sorted).toEqual([long[0], large, long[1], ...short]);
});
