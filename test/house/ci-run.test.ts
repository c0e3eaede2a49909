/** `.ci/run` counts all that it runs, what ends without a count and what hangs. Its `make` is replaced by one that does as it is told. */

import { type ChildProcess, execFile } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { until } from "../support/http.ts";

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

/** Puts a shell program before all others. */
function program(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

interface Ended {
  /** The last one that it printed. */
  readonly line: string;
  readonly status: number;
  /** All that it printed. */
  readonly out: string;
}

/** @param started  is given the process of the run. */
function run(targets: Partial<Targets>, started: (run: ChildProcess) => void = () => undefined): Promise<Ended> {
  const cases = Object.entries({ ...passing, ...targets }).map(([name, lines]) => `"true "${name}) ${lines} ;;`);
  program("make", `case "$CI $1" in ${cases.join("\n")}\n*) exit 9 ;; esac`);
  return new Promise((done) => {
    const child = execFile(join(folder, ".ci/run"), { env: { PATH: `${folder}:${process.env.PATH}` } }, (_, out) =>
      done({ line: out.trim().split("\n").at(-1) ?? "", status: child.exitCode ?? -1, out }),
    );
    started(child);
  });
}

test("the counts of both runs of tests are added", async () => {
  expect(await run({})).toMatchObject({ line: "7 passed, 0 failed", status: 0 });
});

test.each<[string, Partial<Targets>, string]>([
  ["a failed check", { check: "false" }, "7 passed, 1 failed"],
  ["a failed test", { test: counted("4 1", 1) }, "6 passed, 1 failed"],
  ["a failed test in the cluster", { "test-cluster": counted("1 1", 1) }, "6 passed, 1 failed"],
  ["a run that ends badly and counts no failure", { test: counted("5 0", 2) }, "7 passed, 1 failed"],
  ["a run without a count after one with a count", { "test-cluster": "exit 0" }, "5 passed, 1 failed"],
  ["all of it", { check: "false", test: "exit 1", "test-cluster": "exit 1" }, "0 passed, 3 failed"],
])("%s fails", async (_, targets, line) => {
  expect(await run(targets)).toMatchObject({ line, status: 1 });
});

test("what failed is listed in the end, with the target that ran it", async () => {
  const failing = 'printf "4 2\\n  a.test.ts: fails (failed)\\n  b.test.ts\\n" >"$TEST_COUNT"; exit 1';
  const { out } = await run({ check: "false", test: failing, "test-cluster": "exit 1" });
  expect(out).toBe(`
failed:
make check:
make test:
  a.test.ts: fails (failed)
  b.test.ts
make test-cluster:
4 passed, 4 failed
`);
});

test("what is not done in time is ended and fails", async () => {
  // An hour passes between one look at the clock and the next.
  program("date", `cd ${folder}; echo >>hours; wc -l <hours | while read -r hours; do echo $((hours * 3600)); done`);
  expect(await run({ test: "sleep 300" })).toMatchObject({ line: "2 passed, 1 failed", status: 1 });
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s ends what runs, which may tidy up, and fails", async (signal) => {
  const begun = join(folder, "begun");
  const tidied = join(folder, "tidied");
  let isTidied = false;
  // `timeout` ends at a signal that comes before it knows the process that it has just started (coreutils 9.1), and what it started is killed.
  const target = `trap 'sleep 1; echo >${tidied}; exit 1' TERM; sleep 1; echo >${begun}; sleep 300 & wait`;
  const ran = run({ "test-cluster": target }, (child) => {
    child.once("exit", () => {
      isTidied = existsSync(tidied);
    });
    void until(() => existsSync(begun), { timeoutMs: 60_000 }).then(() => child.kill(signal));
  });
  expect(await ran).toMatchObject({ line: "5 passed, 1 failed", status: { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[signal] });
  expect(isTidied).toBe(true);
});

test("what a target leaves behind when it is ended is ended too", async () => {
  const begun = join(folder, "begun");
  const ran = run({ test: `(trap "" TERM; echo >${begun}; exec sleep 300) & wait` }, (child) => {
    void until(() => existsSync(begun), { timeoutMs: 60_000 }).then(() => child.kill("SIGTERM"));
  });
  expect(await ran).toMatchObject({ line: "0 passed, 1 failed", status: 143 });
});

test("programs that it starts can be interrupted as if a user had started them", async () => {
  // A shell cannot trap a signal that was ignored when it began.
  const heeds = (signal: string) => `sh -c 'trap "exit 0" ${signal}; kill -${signal} $$; exit 1'`;
  expect(await run({ check: `${heeds("INT")} && ${heeds("QUIT")}` })).toMatchObject({ line: "7 passed, 0 failed", status: 0 });
});
