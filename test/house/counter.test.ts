/** The count at the end of `make test`: what did not pass cannot look as if it had. Runs the real program on planted suites. */

import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
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
    export default { ...config, testSequencer: here(config.testSequencer), testEnvironment: here(config.testEnvironment) };`;
  writeFileSync(join(root, "jest.config.mjs"), config);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const passing = 'import { test } from "@jest/globals"; test("passes", () => {});';

/** The last line and the status of a run over suites with these texts. */
function run(...suites: string[]): Promise<{ line: string | undefined; status: unknown }> {
  for (const [index, text] of suites.entries()) writeFileSync(join(root, "test", `${index}.test.ts`), text);
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: root, TEST_ROOT: root };
    execFile(process.execPath, [join(repository, "scripts/test.ts")], { env }, (error, stdout) => {
      resolve({ line: stdout.trimEnd().split("\n").at(-1), status: error?.code ?? 0 });
    });
  });
}

test("a run in which everything passes passes", async () => {
  expect(await run(passing, passing)).toEqual({ line: "2 passed, 0 failed", status: 0 });
});

test("a failed test fails", async () => {
  const failing = 'import { expect, test } from "@jest/globals"; test("fails", () => expect(1).toBe(2)); test("passes", () => {});';
  expect(await run(failing)).toEqual({ line: "1 passed, 1 failed", status: 1 });
});

test("a suite that crashes at import fails", async () => {
  expect(await run(passing, 'throw new Error("crashed");')).toEqual({ line: "1 passed, 1 failed", status: 1 });
});

test("a suite that fails after its tests fails", async () => {
  const late = 'import { afterAll, test } from "@jest/globals"; test("passes", () => {}); afterAll(() => { throw new Error("late"); });';
  expect((await run(passing, late)).status).toBe(1);
});

test("a skipped test fails, and so does one that is left to do", async () => {
  const skipped = 'import { test } from "@jest/globals"; test("passes", () => {}); test.skip("later", () => {}); test.todo("some day");';
  expect(await run(skipped)).toEqual({ line: "1 passed, 2 failed", status: 1 });
});

test("a suite without tests fails", async () => {
  expect(await run(passing, "export {};")).toEqual({ line: "1 passed, 1 failed", status: 1 });
});

test("an empty run fails", async () => {
  expect(await run()).toEqual({ line: "0 passed, 1 failed", status: 1 });
});
