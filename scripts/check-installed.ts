/** Fails if an installed package is not of the version in the lockfile: `node scripts/check-installed.ts [FOLDER]`. */

import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

interface Locked {
  readonly version?: string;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  /** A workspace, which has no installed version. */
  readonly link?: boolean;
}

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."));

async function readJson<T>(path: string): Promise<T | null> {
  const text = await readFile(join(root, path), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as T);
}

const lock = await readJson<{ packages: Record<string, Locked> }>("package-lock.json");
if (lock === null) throw new Error(`no package-lock.json in ${root}`);

const faults: string[] = [];
for (const [path, locked] of Object.entries(lock.packages)) {
  if (!path.includes("node_modules/") || locked.link === true) continue;
  const installed = await readJson<{ version: string }>(`${path}/package.json`);
  // Most optional packages are for other platforms.
  const mayBeAbsent = locked.optional === true || locked.devOptional === true || locked.peer === true;
  if (installed === null && !mayBeAbsent) faults.push(`${path} ${locked.version} is in the lockfile and not installed`);
  // npm publishes version `v1.2.3` as 1.2.3, but does not change it in the package.
  if (installed !== null && installed.version.replace(/^v/, "") !== locked.version)
    faults.push(`${path} is ${installed.version}, the lockfile says ${locked.version}`);
}
for (const fault of faults) console.log(fault);
if (faults.length > 0) {
  console.log("run: npm install");
  process.exitCode = 1;
}
