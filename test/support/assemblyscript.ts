/** The compiler of AssemblyScript, from npm, which makes the WebAssembly in this repository. */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findCachedTool } from "./cached-tool.ts";
import type { FoundTool } from "./debian.ts";

const run = promisify(execFile);

/** The compiler and its dependencies. Other versions may make other bytes from the same source. */
export const compilerPackages = ["assemblyscript@0.28.20", "binaryen@131.0.0-nightly.20260721", "long@5.3.2"];
/** Options for a module without a runtime, which allocates its memory itself. */
export const compilerOptions = ["-O3", "--runtime", "stub", "--noAssert", "--initialMemory", "0", "--use", "abort="];

/** Folder of the compiler in the cache; scripts/doctor.sh also names it. */
export const compilerFolder = (compilerPackages[0] as string).replace("@", "-");

/** Looks in the cache, then in the registry. Cost the first time: a download of some 20 MB. */
export async function findAssemblyScript(): Promise<FoundTool> {
  const install = async (folder: string) => {
    await writeFile(join(folder, "package.json"), "{}");
    const options = ["--silent", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"];
    // Use the system's certificates, which the machine's own npm may find in a place where this one does not look.
    await run("npm", ["install", ...options, ...compilerPackages], { cwd: folder, env: { ...process.env, NODE_USE_SYSTEM_CA: "1" } });
  };
  return await findCachedTool(
    compilerFolder,
    "node_modules/assemblyscript/bin/asc.js",
    install,
    `npm install ${compilerPackages.join(" ")}`,
  );
}

/** Compiles a file of AssemblyScript to a module. Rejects with the compiler's message. */
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
