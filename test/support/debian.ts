/** Programs of Debian packages for tests: from the environment, PATH, our cache, or the registry; unpacked, never installed. */

import { type ExecFileException, execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, mkdir, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { toolCache } from "./tool-cache.ts";

/** A program, or what one can do to have it. */
export type FoundTool =
  | {
      readonly found: true;
      /** Path of the program. */
      readonly command: string;
      /** To be added to the environment of the process (`LD_LIBRARY_PATH` when it came with libraries). */
      readonly env: Readonly<Record<string, string>>;
      readonly origin: "environment" | "path" | "cache" | "registry";
    }
  | { readonly found: false; readonly remedy: string };

export interface DebianTool {
  /** Name of the program on PATH. */
  readonly name: string;
  /** Variable of the environment that may name the program's path. */
  readonly variable: string;
  readonly packageName: string;
  /** Further packages that are unpacked beside it. Default: none. */
  readonly otherPackages?: readonly string[];
  /** Its folder in the cache. Default: the name of the package. */
  readonly folder?: string;
  /** Where the package has the program: `usr/bin/bgpdump`. */
  readonly binary: string;
}

const run = promisify(execFile);
/** Written last: a folder without it is what an interrupted download left. */
const completeMark = ".complete";
/** Libraries of libraries: far more rounds than any program here needs. */
const dependencyRoundsMax = 4;

/** The program that the environment names or PATH has; null when neither says anything. */
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

/** Looks in the order of this file's head. Cost: one file look-up when found, a download of some 100 kB the first time. */
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
 * The tool, or null after one plain line that says what was not run; under `CI=true` a missing tool is an error.
 *
 * @param checks  how many checks need it.
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

/** Unpacks package and missing libraries beside `root` and renames: a second process that does the same is no harm. */
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

/** @returns the packages on which it depends, the first of alternatives, without the C library. */
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

/** A new machine has no lists of packages yet: then lists of our own are fetched and thrown away, which needs no root and changes nothing. */
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

/** `lib/x86_64-linux-gnu` and the like. */
async function libraryFolders(root: string): Promise<string[]> {
  const folders: string[] = [];
  for (const parent of ["usr/lib", "lib"]) {
    const names = await readdir(join(root, parent)).catch(() => []);
    folders.push(...names.filter((name) => name.includes("-linux-gnu")).map((name) => join(root, parent, name)));
  }
  return folders;
}
