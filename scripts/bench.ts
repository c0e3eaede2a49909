/** `make bench`: runs the benchmarks one after the other, so that none disturbs another; `BENCH=name` runs those whose path contains the name. */

import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const wanted = process.argv[2] ?? "";
const programs = globSync(["bench/*.ts", "{libs,services}/*/bench/*.ts"], { cwd: root }).sort();
const chosen = programs.filter((path) => path.includes(wanted));
if (chosen.length === 0) {
  console.log(`no benchmark has "${wanted}" in its path; there are:\n${programs.join("\n")}`);
  process.exitCode = 1;
}
for (const path of chosen) {
  console.log(`\n${path}`);
  const { status } = spawnSync(process.execPath, [...process.execArgv, "--expose-gc", path], { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
