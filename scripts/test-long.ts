/**
 * `make test-long`: runs all tests with all inputs of each property, from new seeds, and then the soak, which counts as one test. Takes the
 * arguments of `make test`; if there are any, the soak is not run.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Count, countLine } from "./test-report.ts";

const folder = mkdtempSync(join(tmpdir(), "netfacts-test-long-"));
const countPath = join(folder, "count");
const args = process.argv.slice(2);

/** Runs a script. @returns whether it succeeded. */
function run(script: string, ...options: string[]): boolean {
  const node = ["--conditions=source", "--disable-warning=ExperimentalWarning", join(import.meta.dirname, script), ...options];
  const { status } = spawnSync(process.execPath, node, { stdio: "inherit", env: { ...process.env, TEST_COUNT: countPath } });
  return status === 0;
}

function readCount(): Count {
  try {
    const [passed = 0, failed = 0] = readFileSync(countPath, "utf8").split(/[ \n]/, 2).map(Number);
    return { passed, failed };
  } catch {
    return { passed: 0, failed: 0 };
  }
}

try {
  const suitePassed = run("test.ts", "--long", ...args);
  const { passed, failed } = readCount();
  const suite = { passed, failed: suitePassed ? failed : Math.max(1, failed) };
  if (args.length === 0) {
    const soakPassed = run("soak.ts");
    console.log(countLine({ passed: suite.passed + (soakPassed ? 1 : 0), failed: suite.failed + (soakPassed ? 0 : 1) }));
    process.exitCode = suitePassed && soakPassed ? 0 : 1;
  } else {
    process.exitCode = suitePassed ? 0 : 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
