/** `.ci/run` counts all that it runs, and what ends without a count. Its `make` is replaced by one that does as it is told. */

import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";

const root = resolve(import.meta.dirname, "../..");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netfacts-ci-"));
  mkdirSync(join(folder, ".ci"));
  copyFileSync(join(root, ".ci/run"), join(folder, ".ci/run"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** What a target does, as lines of `sh`. */
interface Targets {
  readonly check: string;
  readonly test: string;
  readonly "test-cluster": string;
}

const passing: Targets = { check: "true", test: counted("5 0"), "test-cluster": counted("2 0") };

function counted(count: string, status = 0): string {
  return `echo "${count}" >"$TEST_COUNT"; exit ${status}`;
}

/** The last line and the status of a run with these targets. */
function run(targets: Partial<Targets>): Promise<{ line: string; status: number }> {
  const make = join(folder, "make");
  const cases = Object.entries({ ...passing, ...targets }).map(([name, lines]) => `${name}) ${lines} ;;`);
  writeFileSync(make, `#!/bin/sh\ncase "$CI $1" in ${cases.map((each) => `"true "${each}`).join("\n")}\n*) exit 9 ;; esac\n`);
  chmodSync(make, 0o755);
  return new Promise((done) => {
    const child = execFile(join(folder, ".ci/run"), { env: { PATH: `${folder}:${process.env.PATH}` } }, (_, out) =>
      done({ line: out.trim().split("\n").at(-1) ?? "", status: child.exitCode ?? -1 }),
    );
  });
}

test("the counts of both runs of tests are added", async () => {
  expect(await run({})).toEqual({ line: "7 passed, 0 failed", status: 0 });
});

test.each<[string, Partial<Targets>, string]>([
  ["a failed check", { check: "false" }, "7 passed, 1 failed"],
  ["a failed test", { test: counted("4 1", 1) }, "6 passed, 1 failed"],
  ["a failed test in the cluster", { "test-cluster": counted("1 1", 1) }, "6 passed, 1 failed"],
  ["a run that ends badly and counts no failure", { test: counted("5 0", 2) }, "7 passed, 1 failed"],
  ["a run without a count after one with a count", { "test-cluster": "exit 0" }, "5 passed, 1 failed"],
  ["all of it", { check: "false", test: "exit 1", "test-cluster": "exit 1" }, "0 passed, 3 failed"],
])("%s fails", async (_, targets, line) => {
  expect(await run(targets)).toEqual({ line, status: 1 });
});
