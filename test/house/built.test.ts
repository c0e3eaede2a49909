/** What `make build` makes runs without the sources' condition: import and lookup, workers and all. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { someSamples } from "../support/some-samples.ts";

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "netfacts-built-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A child with nothing of this process's own conditions. */
function run(program: string, ...args: string[]): string {
  // The compiler is a Go program that allocates much and ends soon: it collects garbage less often.
  const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", GOGC: "400" };
  return execFileSync(process.execPath, [join(root, program), ...args], {
    cwd: root,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

test("the compiled command line imports and answers", () => {
  // Two thirds of the time of `make build` go to checking types, which `make check` does. Threads would load the same types once each.
  run("node_modules/typescript/bin/tsc", "-b", "--noCheck", "--singleThreaded");
  // The table of routes is read in threads.
  const list = someSamples(folder, ["route-views.jinx", "ripencc"]);
  const report = JSON.parse(run("services/cli/dist/main.js", "ingest", "run", "--sources", list, "--data-dir", folder, "--json"));
  expect(report).toMatchObject({ unchanged: false, error: null });
  const record = JSON.parse(run("services/cli/dist/main.js", "lookup", "ip", "193.0.6.139", "--data-dir", folder, "--json"));
  expect(record.routing).toMatchObject({ announced: true, prefix: "193.0.0.0/21" });
});
