/** Fails if the work tree has changed since `make check` began (TREE_BEFORE): installing and checking must not write files that git sees. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";

const before = process.env.TREE_BEFORE;
const after = execFileSync(join(import.meta.dirname, "tree-state.sh"), { encoding: "utf8" }).trim();
if (before !== undefined && before !== after) {
  console.log("the work tree changed during the check; git status:");
  console.log(execFileSync("git", ["status", "--short"], { cwd: import.meta.dirname, encoding: "utf8" }));
  process.exitCode = 1;
}
