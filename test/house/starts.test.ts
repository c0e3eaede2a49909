/** What programs load as they start (docs/decisions/0079-what-a-start-does-not-load.md). */

import { spawnSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import { compileCache } from "../support/compile-cache.ts";
import { programArgs } from "../support/programs.ts";

/** The answer, and the modules of Node that were loaded by the end. */
function run(args: readonly string[]): { status: number | null; stdout: string; modules: string[] } {
  const tell = "process.on('exit', () => process.stderr.write(process.moduleLoadList.join('\\n')))";
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(tell)}`, ...programArgs("cli"), ...args],
    { encoding: "utf8", env: { ...compileCache, PATH: process.env.PATH, NODE_NO_WARNINGS: "1" } },
  );
  return { status, stdout, modules: stderr.split("\n") };
}

test("a program that uses node:http does not load fetch and WebSocket with it", () => {
  const { status, stdout, modules } = run(["--version"]);
  expect([status, stdout]).toEqual([0, "0.1.0\n"]);
  expect(modules).toContain("NativeModule _http_server");
  expect(modules.filter((name) => name.includes("undici"))).toEqual([]);
});
