/** Selects the packages of a lockfile that programs need at run time, and the needed files of these. */

import { cp, readdir, readFile, stat } from "node:fs/promises";
import { basename, extname, join, sep } from "node:path";

interface LockedPackage {
  readonly version?: string;
  /** Its real name, if it is installed under another one. */
  readonly name?: string;
  /** A link to one of our own packages. */
  readonly link?: boolean;
  /** Only development needs it. */
  readonly dev?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** The packages of the lockfile, by the paths of their folders. */
export async function lockedPackages(root: string): Promise<LockedPackages> {
  return (JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as { packages: LockedPackages }).packages;
}

/**
 * Folders of the named packages and of their dependencies, as paths after `node_modules/`, sorted. A name that ends in `/*` is every package
 * of that scope on which one of our own packages depends. Packages that have only types are left out.
 */
export function closureOf(locked: LockedPackages, names: readonly string[]): string[] {
  const needed = new Set(ownPackages(locked).flatMap(([, { dependencies = {} }]) => Object.keys(dependencies)));
  const matches = (name: string) =>
    names.some((wanted) => (wanted.endsWith("/*") ? name.startsWith(wanted.slice(0, -1)) : name === wanted));
  return reached(
    locked,
    [...needed].filter(matches).map((name) => ({ name, from: "" })),
  );
}

/** The same for all dependencies of our packages at run time, each resolved from the folder of its package. */
export function runtimePackages(locked: LockedPackages): string[] {
  const needed = ownPackages(locked).flatMap(([from, { dependencies = {} }]) => Object.keys(dependencies).map((name) => ({ name, from })));
  return reached(
    locked,
    needed.filter(({ name }) => !name.startsWith("@netfacts/")),
  );
}

/** `name@version` of a folder with a package. */
export function identity(path: string, locked: LockedPackages): string {
  const { name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length), version } = locked[path] ?? {};
  return `${name}@${version}`;
}

/** `name@version` of our own packages. */
export function ownIdentities(locked: LockedPackages): string[] {
  return Object.entries(locked).flatMap(([path, { version }]) =>
    /^(libs|services)\/[^/]+$/.test(path) ? [`@netfacts/${path.split("/")[1]}@${version}`] : [],
  );
}

/** Not the repository itself: what its root depends on builds the console and the documentation. */
function ownPackages(locked: LockedPackages): [string, LockedPackage][] {
  return Object.entries(locked).filter(([path]) => path !== "" && !path.includes("node_modules/"));
}

function reached(locked: LockedPackages, starts: readonly { readonly name: string; readonly from: string }[]): string[] {
  const found = new Set<string>();
  const visit = (name: string, from: string) => {
    const path = placeOf(locked, name, from);
    if (path === null || found.has(path) || isTypesOnly(name)) return;
    found.add(path);
    const { dependencies = {}, optionalDependencies = {} } = locked[path] ?? {};
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies })) visit(next, path);
  };
  for (const { name, from } of starts) visit(name, from);
  return [...found].sort();
}

/** The path where Node finds a package from a folder: below it, or below a parent. Null for an optional package that is not in the lockfile. */
function placeOf(locked: LockedPackages, name: string, from: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (locked[path] !== undefined) return path;
    if (folder === "") return null;
  }
}

function isTypesOnly(name: string): boolean {
  return name.startsWith("@types/") || name === "undici-types" || name === "openapi-types";
}

/** Types of files that are read at run time; `.css` and the like are for the reference page. */
const extensions = new Set([".js", ".cjs", ".mjs", ".json", ".node", ".wasm", ".proto", ".css", ".html", ".png", ".svg"]);
const foldersLeftOut = new Set([
  "node_modules",
  "test",
  "tests",
  "__tests__",
  "example",
  "examples",
  "benchmark",
  "benchmarks",
  "bench",
  ".github",
]);
const licenceFile = /^(licen[cs]e|copying|notice)/i;

/** Copies the files of a package that are needed at run time, and its licence, but no tests, types and source maps. */
export async function copyPackage(from: string, to: string): Promise<void> {
  await cp(from, to, {
    recursive: true,
    async filter(path) {
      const isFolder = (await stat(path)).isDirectory();
      const within = path.slice(from.length).split(sep);
      if (isFolder) return !foldersLeftOut.has(within.at(-1) ?? "") || within.length === 1;
      const name = basename(path);
      return licenceFile.test(name) || (extensions.has(extname(name)) && !/\.test\.\w+$/.test(name));
    },
  });
}

/** The texts of a package's licence and notices; empty if it has no such file. */
export async function licenceTexts(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && licenceFile.test(entry.name))
    .map(({ name }) => name)
    .sort();
  return Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
}
