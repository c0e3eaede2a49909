/** The count at the end of `make test`: what did not pass cannot look as if it had. Runs the real program on planted suites. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { until } from "../support/http.ts";
import { type PlantedRun, PlantedSuite } from "./planted-suite.ts";

let planted: PlantedSuite;
beforeEach(() => {
  planted = new PlantedSuite();
});
afterEach(() => planted.remove());

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
function run(...suites: string[]): Promise<Omit<PlantedRun, "report" | "out">> {
  return runWith([], ...suites);
}

async function runWith(options: readonly string[], ...suites: string[]): Promise<Omit<PlantedRun, "report" | "out">> {
  for (const [index, text] of suites.entries()) planted.write(`test/${index}.test.ts`, text);
  const { line, status } = await planted.run(options);
  return { line, status };
}

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

test("what failed is listed before the count, and is written below the count into the file of TEST_COUNT", async () => {
  const file = join(planted.root, "count");
  for (const [index, text] of [failing, crashing, skipping, passing].entries()) planted.write(`test/${index}.test.ts`, text);
  const { out } = await planted.run([], () => undefined, { TEST_COUNT: file });
  const lines = ["test/0.test.ts: fails (failed)", "test/1.test.ts", "test/2.test.ts: later (pending)", "test/2.test.ts: some day (todo)"];
  const list = lines.map((line) => `  ${line}\n`);
  const [, listed = ""] = out.split("\nfailed:\n");
  expect(listed.split(/(?<=\n)/).sort()).toEqual(["\n", "3 passed, 4 failed\n", ...list].sort());
  expect(
    readFileSync(file, "utf8")
      .split(/(?<=\n)/)
      .sort(),
  ).toEqual([...list, "3 4\n"].sort());
});

test("suites of all groups come into one count; those that are alone begin after all others have ended, one at a time", async () => {
  const notes = join(planted.root, "notes");
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

test("the unit run leaves out what imports a module that starts processes, also through others, what runs alone and what is large, and counts the rest", async () => {
  planted.write("test/support/starts.ts", 'export { spawn } from "node:child_process";');
  planted.write("test/support/types.ts", 'import type { ChildProcess } from "node:child_process"; export type Child = ChildProcess;');
  const through = `import { spawn } from "./support/starts.ts"; ${failing} void spawn;`;
  const typesOnly = `import { type Child } from "./support/types.ts"; ${failing} export type Mine = Child;`;
  const left = [groups.processes + failing, through, groups.alone + failing, `/** @large */${failing}`];
  expect(await runWith(["--unit"], ...left, typesOnly, passing)).toEqual({ line: "2 passed, 1 failed", status: 1 });
});

test("with -t, tests of other names are not counted, and a crash, a failure and a name that no test has still fail", async () => {
  const other = 'import { test } from "@jest/globals"; test("other", () => {});';
  expect(await runWith(["-t", "passes"], passing, failing, other)).toEqual({ line: "2 passed, 0 failed", status: 0 });
  expect(await runWith(["-t", "fails|passes"], passing, failing, crashing)).toEqual({ line: "2 passed, 2 failed", status: 1 });
  expect(await runWith(["-t", "nowhere"], passing, other)).toEqual({ line: "0 passed, 1 failed", status: 1 });
});

test("a run that is ended leaves no process of its tests", async () => {
  const note = join(planted.root, "pid");
  planted.write(
    "test/0.test.ts",
    `import { spawn } from "node:child_process";
     import { writeFileSync } from "node:fs";
     import { test } from "@jest/globals";
     test("waits", () => {
       const { pid } = spawn("sleep", ["300"], { stdio: "ignore" });
       writeFileSync(${JSON.stringify(note)}, String(pid));
       return new Promise(() => {});
     });`,
  );
  let end = () => {};
  const ran = planted.run([], (child) => {
    end = () => void child.kill("SIGTERM");
  });
  await until(() => existsSync(note) && readFileSync(note, "utf8") !== "", { timeoutMs: 60_000 });
  end();
  expect(await ran).toMatchObject({ line: "0 passed, 2 failed", status: 1 });
  const stat = `/proc/${readFileSync(note, "utf8")}/stat`;
  await until(() => !existsSync(stat) || readFileSync(stat, "utf8").includes(") Z "), { timeoutMs: 5_000 });
});
