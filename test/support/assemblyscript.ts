/** The compiler of AssemblyScript, from npm: what WebAssembly in this repository is made with. */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findCachedTool } from "./cached-tool.ts";
import type { FoundTool } from "./debian.ts";

const run = promisify(execFile);

/** Of the compiler and what it needs. Another version may make other bytes of the same source. */
export const compilerPackages = ["assemblyscript@0.28.20", "binaryen@131.0.0-nightly.20260721", "long@5.3.2"];
/** A module without a runtime, which makes its memory itself. */
export const compilerOptions = ["-O3", "--runtime", "stub", "--noAssert", "--initialMemory", "0", "--use", "abort="];

/** Its folder in the cache; scripts/doctor.sh names it too. */
export const compilerFolder = (compilerPackages[0] as string).replace("@", "-");

/** The cache, or the registry. Cost the first time: a download of some 20 MB. */
export async function findAssemblyScript(): Promise<FoundTool> {
  const install = async (folder: string) => {
    await writeFile(join(folder, "package.json"), "{}");
    const options = ["--silent", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
    // The certificates of the machine, which its own npm may know from a place that this one does not look at.
    await run("npm", ["install", ...options, ...compilerPackages], { cwd: folder, env: { ...process.env, NODE_USE_SYSTEM_CA: "1" } });
  };
  return await findCachedTool(
    compilerFolder,
    "node_modules/assemblyscript/bin/asc.js",
    install,
    `npm install ${compilerPackages.join(" ")}`,
  );
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
