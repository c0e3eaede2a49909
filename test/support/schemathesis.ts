/** schemathesis, which reads an OpenAPI document and looks for answers that are not as it says. From PATH, the cache, or PyPI into an environment of its own. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type FoundTool, findInstalledTool, isProgram } from "./debian.ts";
import { toolCache, withLock } from "./tool-cache.ts";

/** Of schemathesis; what it needs is pinned beside (`schemathesis-requirements.txt`). */
export const schemathesisVersion = "4.32.5";
const requirements = join(import.meta.dirname, "schemathesis-requirements.txt");
const run = promisify(execFile);

/** `SCHEMATHESIS` in the environment, PATH, the cache, the registry. Cost the first time: ten seconds. */
export async function findSchemathesis(): Promise<FoundTool> {
  const installed = await findInstalledTool({ name: "schemathesis", variable: "SCHEMATHESIS" });
  if (installed !== null) return installed;
  const folder = join(toolCache(), `schemathesis-${schemathesisVersion}`);
  // Programs of an environment name its Python by path: it is run as a module, so that the folder can be renamed.
  const command = join(folder, "bin", "python");
  const found = (origin: "cache" | "registry"): FoundTool => ({ found: true, command, env: {}, origin });
  await mkdir(toolCache(), { recursive: true });
  return await withLock(`${folder}.lock`, async () => {
    if (await isProgram(command)) return found("cache");
    const work = await mkdtemp(`${folder}.`);
    try {
      await run("python3", ["-m", "venv", work]);
      const options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "-r", requirements];
      await run(join(work, "bin", "python"), ["-m", "pip", "install", ...options]);
      await rename(work, folder);
      return found("registry");
    } catch (error) {
      const { message, stderr } = error as Error & { stderr?: string };
      return {
        found: false,
        remedy: `pip install schemathesis==${schemathesisVersion} (failed: ${(stderr || message).trim().split("\n").at(-1)})`,
      };
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}

/** Its arguments before those of the command line. */
export function schemathesisArguments({ command }: Extract<FoundTool, { found: true }>): string[] {
  return command.endsWith("/python") ? ["-m", "schemathesis.cli"] : [];
}
