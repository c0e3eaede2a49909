/** Programs of Debian packages for tests: from the environment, PATH, our cache, or the registry. Packages are unpacked, never installed. */

import { type ExecFileException, execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { toolCache } from "./tool-cache.ts";

/** A program, or advice on how to get it. */
export type FoundTool =
  | {
      readonly found: true;
      /** Path of the program. */
      readonly command: string;
      /** Variables to add to the environment of the process: `LD_LIBRARY_PATH` if it has its own libraries. */
      readonly env: Readonly<Record<string, string>>;
      readonly origin: "environment" | "path" | "cache" | "registry";
    }
  | { readonly found: false; readonly remedy: string };

export interface DebianTool {
  /** Name of the program on PATH. */
  readonly name: string;
  /** Variable of the environment that may have the program's path. */
  readonly variable: string;
  readonly packageName: string;
  /** Further packages to unpack into the same folder. Default: none. */
  readonly otherPackages?: readonly string[];
  /** Folder in the cache. Default: the name of the package. */
  readonly folder?: string;
  /** Path of the program in the package: `usr/bin/bgpdump`. */
  readonly binary: string;
}

const run = promisify(execFile);
/** File that is written last: a folder without it is from an interrupted download. */
const completeMark = ".complete";
/** Most levels of dependencies of libraries, which is more than any program here needs. */
const dependencyRoundsMax = 4;

/** The program that the environment names or PATH has; null if there is none. */
export async function findInstalledTool({ name, variable }: Pick<DebianTool, "name" | "variable">): Promise<FoundTool | null> {
  const named = process.env[variable];
  if (named !== undefined && named !== "") {
    if (await isProgram(named)) return { found: true, command: named, env: {}, origin: "environment" };
    return { found: false, remedy: `${variable} names ${named}, which is no program` };
  }
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const command = join(folder, name);
    if (folder !== "" && (await isProgram(command))) return { found: true, command, env: {}, origin: "path" };
  }
  return null;
}

/** Looks at the places in the order of this file's first line. Cost: one file look-up; the first time a download of some 100 kB. */
export async function findDebianTool(tool: DebianTool): Promise<FoundTool> {
  const installed = await findInstalledTool(tool);
  if (installed !== null) return installed;
  const root = join(cacheFolder(), tool.folder ?? tool.packageName);
  if (await isReadable(join(root, completeMark))) return unpackedTool(root, tool, "cache");
  try {
    await download(root, tool);
    return await unpackedTool(root, tool, "registry");
  } catch (error) {
    const { message, stderr } = error as ExecFileException;
    const why = (stderr?.trim() || message).split("\n").at(-1);
    return { found: false, remedy: `install Debian's ${tool.packageName}, or set ${tool.variable} to its path (download failed: ${why})` };
  }
}

/**
 * The tool, or null after it has printed a line that says what was not run. With `CI=true`, a missing tool is an error.
 *
 * @param checks  number of checks that need it.
 */
export function toolOrNotRun(tool: FoundTool, name: string, checks: number): Extract<FoundTool, { found: true }> | null {
  if (tool.found) return tool;
  if (process.env.CI === "true") throw new Error(`${name} is needed: ${tool.remedy}`);
  console.log(`not run: ${checks} checks need ${name}: ${tool.remedy}`);
  return null;
}

function cacheFolder(): string {
  return join(toolCache(), "debs");
}

export async function isProgram(path: string): Promise<boolean> {
  return await access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

async function isReadable(path: string): Promise<boolean> {
  return await access(path, constants.R_OK).then(
    () => true,
    () => false,
  );
}

async function unpackedTool(root: string, tool: DebianTool, origin: "cache" | "registry"): Promise<FoundTool> {
  const folders = await libraryFolders(root);
  return {
    found: true,
    command: join(root, tool.binary),
    env: folders.length === 0 ? {} : { LD_LIBRARY_PATH: folders.join(delimiter) },
    origin,
  };
}

/** Unpacks the package and missing libraries beside `root`, and renames the folder, so that two processes can do this at the same time. */
async function download(root: string, tool: DebianTool): Promise<void> {
  await mkdir(cacheFolder(), { recursive: true });
  const work = await mkdtemp(`${root}.`);
  try {
    const done = new Set<string>();
    for (const name of tool.otherPackages ?? []) await unpack(work, name);
    let wanted = [tool.packageName];
    for (let round = 0; round < dependencyRoundsMax && wanted.length > 0; round++) {
      const next: string[] = [];
      for (const name of wanted) {
        done.add(name);
        next.push(...(await unpack(work, name)));
      }
      wanted = (await missesLibraries(work, tool)) ? next.filter((name) => !done.has(name)) : [];
    }
    if (await missesLibraries(work, tool)) throw new Error(`libraries of ${tool.packageName} are missing`);
    await writeFile(join(work, completeMark), "");
    await rename(work, root).catch(async (error: unknown) => {
      if (!(await isReadable(join(root, completeMark)))) throw error;
    });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @returns its dependencies without the C library; of alternatives only the first. */
async function unpack(work: string, packageName: string): Promise<string[]> {
  const folder = await mkdtemp(join(work, "deb."));
  await fetchPackage(packageName, folder);
  const [file] = await readdir(folder);
  if (file === undefined) throw new Error(`apt-get downloaded no file for ${packageName}`);
  const path = join(folder, file);
  await run("dpkg-deb", ["-x", path, work]);
  const { stdout } = await run("dpkg-deb", ["-f", path, "Depends"]);
  await rm(folder, { recursive: true });
  const names = stdout.split(",").map((part) => /^\s*([a-z0-9][a-z0-9+.-]*)/.exec(part)?.[1]);
  return names.filter((name): name is string => name !== undefined && name !== "libc6");
}

/** Downloads a package. A new machine has no package lists: temporary ones are downloaded then, which needs no root and changes nothing. */
async function fetchPackage(packageName: string, folder: string): Promise<void> {
  try {
    await run("apt-get", ["download", packageName], { cwd: folder });
  } catch {
    const own = await mkdtemp(join(tmpdir(), "netfacts-apt-"));
    try {
      for (const name of ["lists/partial", "cache/archives/partial"]) await mkdir(join(own, name), { recursive: true });
      const options = [`Dir::State::lists=${own}/lists`, `Dir::Cache=${own}/cache`, "APT::Sandbox::User=root"].flatMap((option) => [
        "-o",
        option,
      ]);
      await run("apt-get", [...options, "update"]);
      await run("apt-get", [...options, "download", packageName], { cwd: folder });
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }
}

async function missesLibraries(root: string, tool: DebianTool): Promise<boolean> {
  const env = { ...process.env, LD_LIBRARY_PATH: (await libraryFolders(root)).join(delimiter) };
  const { stdout } = await run("ldd", [join(root, tool.binary)], { env });
  return stdout.includes("not found");
}

/** Folders of libraries, such as `lib/x86_64-linux-gnu`. */
async function libraryFolders(root: string): Promise<string[]> {
  const folders: string[] = [];
  for (const parent of ["usr/lib", "lib"]) {
    const names = await readdir(join(root, parent)).catch(() => []);
    folders.push(...names.filter((name) => name.includes("-linux-gnu")).map((name) => join(root, parent, name)));
  }
  return folders;
}
