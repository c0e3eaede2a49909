/** The count at the end of `make test`: what did not pass cannot look as if it had. Runs the real program on planted suites. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";

const repository = join(import.meta.dirname, "..", "..");
let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "netfacts-counter-")));
  mkdirSync(join(root, "test/support"), { recursive: true });
  for (const name of ["global-setup.ts", "global-teardown.ts"]) writeFileSync(join(root, "test/support", name), "export default () => {};");
  writeFileSync(join(root, "package.json"), '{"type":"module"}');
  const config = `import config from ${JSON.stringify(join(repository, "jest.config.mjs"))};
    const here = (path) => path.replace("<rootDir>", ${JSON.stringify(repository)});
    const { testSequencer, testEnvironment, runner } = config;
    export default { ...config, testSequencer: here(testSequencer), testEnvironment: here(testEnvironment), runner: here(runner) };`;
  writeFileSync(join(root, "jest.config.mjs"), config);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const passing = 'import { test } from "@jest/globals"; test("passes", () => {});';
const failing = 'import { expect, test } from "@jest/globals"; test("fails", () => expect(1).toBe(2)); test("passes", () => {});';
const crashing = 'throw new Error("crashed");';
const late = 'import { afterAll, test } from "@jest/globals"; test("passes", () => {}); afterAll(() => { throw new Error("late"); });';
const skipping = 'import { test } from "@jest/globals"; test("passes", () => {}); test.skip("later", () => {}); test.todo("some day");';
const empty = "export {};";
const dying = 'import { test } from "@jest/globals"; test("dies", () => process.kill(process.pid, "SIGKILL"));';

/** What puts a suite into a group, before its text. */
const groups = {
  unit: "",
  processes: 'import "node:child_process";',
  alone: "/** @alone */",
} as const;

/** The last line and the status of a run over suites with these texts. */
function run(...suites: string[]): Promise<{ line: string | undefined; status: unknown }> {
  return runWith([], ...suites);
}

function runWith(options: readonly string[], ...suites: string[]): Promise<{ line: string | undefined; status: unknown }> {
  for (const [index, text] of suites.entries()) writeFileSync(join(root, "test", `${index}.test.ts`), text);
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: root, TEST_ROOT: root };
    execFile(process.execPath, [join(repository, "scripts/test.ts"), ...options], { env }, (error, stdout) => {
      resolve({ line: stdout.trimEnd().split("\n").at(-1), status: error?.code ?? 0 });
    });
  });
}

test("a run in which everything passes passes", async () => {
  expect(await run(passing, passing)).toEqual({ line: "2 passed, 0 failed", status: 0 });
});

test("a failed test fails", async () => {
  expect(await run(failing)).toEqual({ line: "1 passed, 1 failed", status: 1 });
});

test("an empty run fails", async () => {
  expect(await run()).toEqual({ line: "0 passed, 1 failed", status: 1 });
});

test("in every group, what fails, crashes, ends badly, is skipped, has no tests or dies counts, each of them", async () => {
  const texts = [failing, crashing, late, skipping, empty, dying, passing];
  const suites = Object.values(groups).flatMap((head) => texts.map((text) => head + text));
  // Of each group: one passed in `failing`, `late`, `skipping` and `passing`; two of `skipping` failed, and one of each other.
  expect(await run(...suites)).toEqual({ line: "12 passed, 21 failed", status: 1 });
});

test("suites of all groups come into one count; those that are alone begin after all others have ended, one at a time", async () => {
  const notes = join(root, "notes");
  const noting = (group: string) => `import { test } from "@jest/globals";
    import { appendFileSync } from "node:fs";
    test("notes", async () => {
      appendFileSync(${JSON.stringify(notes)}, "${group} begins\\n");
      await new Promise((resolve) => setTimeout(resolve, 500));
      appendFileSync(${JSON.stringify(notes)}, "${group} ends\\n");
    });`;
  const suites = Object.entries(groups).flatMap(([group, head]) => [head + noting(group), head + noting(group)]);
  expect(await run(...suites)).toEqual({ line: "6 passed, 0 failed", status: 0 });
  const lines = readFileSync(notes, "utf8").trim().split("\n");
  expect(lines.slice(-4)).toEqual(["alone begins", "alone ends", "alone begins", "alone ends"]);
});

test("the unit run leaves out what imports a module that starts processes, also through others, and counts the rest", async () => {
  writeFileSync(join(root, "test/support/starts.ts"), 'export { spawn } from "node:child_process";');
  writeFileSync(
    join(root, "test/support/types.ts"),
    'import type { ChildProcess } from "node:child_process"; export type Child = ChildProcess;',
  );
  const through = `import { spawn } from "./support/starts.ts"; ${failing} void spawn;`;
  const typesOnly = `import { type Child } from "./support/types.ts"; ${failing} export type Mine = Child;`;
  expect(await runWith(["--unit"], groups.processes + failing, through, typesOnly, groups.alone + passing)).toEqual({
    line: "2 passed, 1 failed",
    status: 1,
  });
});
