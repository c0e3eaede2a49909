/** The compiler of AssemblyScript, from npm: what WebAssembly in this repository is made with. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type FoundTool, isProgram } from "./debian.ts";
import { toolCache, withLock } from "./tool-cache.ts";

const run = promisify(execFile);

/** Of the compiler and what it needs. Another version may make other bytes of the same source. */
export const compilerPackages = ["assemblyscript@0.28.20", "binaryen@131.0.0-nightly.20260721", "long@5.3.2"];
/** A module without a runtime, which makes its memory itself. */
export const compilerOptions = ["-O3", "--runtime", "stub", "--noAssert", "--initialMemory", "0", "--use", "abort="];

/** Its folder in the cache; scripts/doctor.sh names it too. */
export const compilerFolder = (compilerPackages[0] as string).replace("@", "-");

/** The cache, or the registry. Cost the first time: a download of some 20 MB. */
export async function findAssemblyScript(): Promise<FoundTool> {
  const folder = join(toolCache(), compilerFolder);
  const command = join(folder, "node_modules", "assemblyscript", "bin", "asc.js");
  const found = (origin: "cache" | "registry"): FoundTool => ({ found: true, command, env: {}, origin });
  await mkdir(toolCache(), { recursive: true });
  return await withLock(`${folder}.lock`, async () => {
    if (await isProgram(command)) return found("cache");
    const work = await mkdtemp(`${folder}.`);
    try {
      await writeFile(join(work, "package.json"), "{}");
      const options = ["--silent", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
      await run("npm", ["install", ...options, ...compilerPackages], { cwd: work, env: { ...process.env, NODE_USE_SYSTEM_CA: "1" } });
      await rename(work, folder);
      return found("registry");
    } catch (error) {
      const { message, stderr } = error as Error & { stderr?: string };
      const why = (stderr || message).trim().split("\n").at(-1);
      return { found: false, remedy: `npm install ${compilerPackages.join(" ")} (failed: ${why})` };
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}

/** The module that a file of AssemblyScript is compiled to. Rejects with what the compiler says. */
export async function compile(compiler: Extract<FoundTool, { found: true }>, source: string): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-assemblyscript-"));
  try {
    const out = join(folder, "module.wasm");
    await run(process.execPath, [compiler.command, source, "--outFile", out, ...compilerOptions]);
    return await readFile(out);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
