/** Packages of PyPI for tests, in an environment of their own in the cache. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type FoundTool, isProgram } from "./debian.ts";
import { toolCache, withLock } from "./tool-cache.ts";

const run = promisify(execFile);

/**
 * The Python of an environment that has the packages. Cost the first time: some seconds.
 *
 * @param name  of the environment; it names the version too.
 * @param packages  arguments of `pip install`, such as `name==version` or `-r FILE`: nothing that they need is installed beside.
 */
export async function findPythonWith(name: string, packages: readonly string[]): Promise<FoundTool> {
  const folder = join(toolCache(), name);
  // Programs of an environment name its Python by path: modules are run by it, so that the folder can be renamed.
  const command = join(folder, "bin", "python");
  const found = (origin: "cache" | "registry"): FoundTool => ({ found: true, command, env: {}, origin });
  await mkdir(toolCache(), { recursive: true });
  return await withLock(`${folder}.lock`, async () => {
    if (await isProgram(command)) return found("cache");
    const work = await mkdtemp(`${folder}.`);
    try {
      await run("python3", ["-m", "venv", work]);
      const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", ...packages];
      await run(join(work, "bin", "python"), ["-m", "pip", "install", ...options]);
      await rename(work, folder);
      return found("registry");
    } catch (error) {
      const { message, stderr } = error as Error & { stderr?: string };
      return {
        found: false,
        remedy: `python3 -m pip install ${packages.join(" ")} (failed: ${(stderr || message).trim().split("\n").at(-1)})`,
      };
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}
