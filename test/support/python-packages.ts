/** Packages of PyPI for tests, in an environment of their own in the cache. */

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findCachedTool } from "./cached-tool.ts";
import type { FoundTool } from "./debian.ts";

const run = promisify(execFile);

/**
 * The Python of an environment that has the packages. Cost the first time: some seconds.
 *
 * @param name  of the environment; it names the version too.
 * @param packages  arguments of `pip install`, such as `name==version` or `-r FILE`: nothing that they need is installed beside.
 */
export async function findPythonWith(name: string, packages: readonly string[]): Promise<FoundTool> {
  // Programs of an environment name its Python by path: modules are run by it, so that the folder can be renamed.
  const python = "bin/python";
  const install = async (folder: string) => {
    await run("python3", ["-m", "venv", folder]);
    const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", ...packages];
    await run(join(folder, python), ["-m", "pip", "install", ...options]);
  };
  return await findCachedTool(name, python, install, `python3 -m pip install ${packages.join(" ")}`);
}
