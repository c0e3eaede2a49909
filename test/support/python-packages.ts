/** Packages of PyPI for tests, in a separate environment in the cache. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findCachedTool } from "./cached-tool.ts";
import type { FoundTool } from "./debian.ts";

const run = promisify(execFile);

/**
 * Finds the Python of an environment with the packages, or makes it. Cost the first time: some seconds.
 *
 * @param name  name of the environment, with the version.
 * @param packages  arguments of `pip install`, such as `name==version` or `-r FILE`. Their dependencies are not installed.
 */
export async function findPythonWith(name: string, packages: readonly string[]): Promise<FoundTool> {
  // Programs of an environment contain the path of its Python. Run modules instead, so that the folder can be renamed.
  const python = "bin/python";
  const install = async (folder: string) => {
    await run("python3", ["-m", "venv", folder]);
    const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", ...packages];
    await run(join(folder, python), ["-m", "pip", "install", ...options]);
  };
  return await findCachedTool(name, python, install, `python3 -m pip install ${packages.join(" ")}`);
}
