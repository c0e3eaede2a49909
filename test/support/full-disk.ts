/** A full disk for one process alone, without root: a bound on how far its files may grow. */

import { spawnSync } from "node:child_process";

const python =
  "import resource, sys; pid, soft = map(int, sys.argv[1:]); hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]; resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))";

/**
 * No file of a running process may grow beyond this from now on: what it writes fails, as on a full disk. Only for programs that ignore
 * SIGXFSZ, as Node does.
 *
 * @returns false where there is no program that can do it (prlimit of util-linux, or python3), which it says. Under CI it throws then.
 */
export function limitFiles(pid: number, bytes: number | "unlimited"): boolean {
  if (spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]).status === 0) return true;
  if (spawnSync("python3", ["-c", python, String(pid), bytes === "unlimited" ? "-1" : String(bytes)]).status === 0) return true;
  const remedy = "a full disk needs prlimit (util-linux) or python3";
  if (process.env.CI === "true") throw new Error(remedy);
  console.log(`not run: ${remedy}`);
  return false;
}
