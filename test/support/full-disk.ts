/** Simulates a full disk for a single process, without root, by a limit on the size of its files. */

import { spawnSync } from "node:child_process";

const python =
  "import resource, sys; pid, soft = map(int, sys.argv[1:]); hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]; resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, hard))";

/**
 * Limits the size of the files of a running process: writes beyond it fail, as on a full disk. Only for programs that ignore SIGXFSZ, like
 * Node.
 *
 * @returns false, after a message, if the machine has neither prlimit (util-linux) nor python3. With `CI=true` it throws instead.
 */
export function limitFiles(pid: number, bytes: number | "unlimited"): boolean {
  if (spawnSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:`]).status === 0) return true;
  if (spawnSync("python3", ["-c", python, String(pid), bytes === "unlimited" ? "-1" : String(bytes)]).status === 0) return true;
  const remedy = "a full disk needs prlimit (util-linux) or python3";
  if (process.env.CI === "true") throw new Error(remedy);
  console.log(`not run: ${remedy}`);
  return false;
}
