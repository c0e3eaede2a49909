/** Reads the packages of the repository, their source files, and the imports of these. */

import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";

export interface Import {
  readonly specifier: string;
  /** From 1. */
  readonly line: number;
  /** `import type`, which does not exist at run time. */
  readonly typeOnly: boolean;
}

export interface SourceFile {
  /** From the repository's root, with `/`. */
  readonly path: string;
  readonly imports: readonly Import[];
}

export interface Package {
  /** `@netfacts/address`. */
  readonly name: string;
  /** `libs/address`. */
  readonly folder: string;
  readonly kind: "lib" | "service";
  readonly dependencies: readonly string[];
  readonly devDependencies: readonly string[];
  readonly files: readonly SourceFile[];
}

export interface Sources {
  readonly packages: readonly Package[];
  /** Files outside packages: scripts, benchmarks, end-to-end tests. */
  readonly others: readonly SourceFile[];
  /** Dependencies of the root, which the tests of all packages use. */
  readonly rootDependencies: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

/** Biome puts each statement at the start of a line. Clauses have only names, braces and commas. */
const statement = /^(?:import|export)\s+(type\s+)?(?:[\w$\s{},*]*?\sfrom\s+)?"([^"]+)"/gm;
const dynamic = /^(?!\s*(?:\*|\/\/)).*?\bimport\(\s*"([^"]+)"/gm;
/** Files of packages that are read instead of run. */
const resolved = /^(?!\s*(?:\*|\/\/)).*?\brequire\.resolve\("([^"]+)"/gm;

/** The imports of a source text, in order. */
export function readImports(text: string): Import[] {
  const lineAt = (index: number): number => text.slice(0, index).split("\n").length;
  const found = [
    ...[...text.matchAll(statement)].map((match) => ({ match, specifier: match[2], typeOnly: match[1] !== undefined })),
    ...[dynamic, resolved].flatMap((form) => [...text.matchAll(form)].map((match) => ({ match, specifier: match[1], typeOnly: false }))),
  ];
  return found.map(({ match, specifier = "", typeOnly }) => ({ specifier, typeOnly, line: lineAt(match.index) }));
}

export async function readSources(root: string): Promise<Sources> {
  const packages = await Promise.all(
    globSync("{libs,services}/*/package.json", { cwd: root })
      .sort()
      .map((path) => readPackage(root, dirname(path).split(sep).join("/"))),
  );
  const others = await readFiles(root, "{bench,observability,samples,scripts,test}/**/*.{ts,tsx}");
  const { dependencies, devDependencies } = await readManifest(root, "package.json");
  return { packages, others, rootDependencies: Object.keys({ ...dependencies, ...devDependencies }) };
}

/** The file of a relative import, from the repository's root; null for a package. */
export function importedPath(file: SourceFile, specifier: string): string | null {
  return specifier.startsWith(".")
    ? relative("/", resolve("/", dirname(file.path), specifier))
        .split(sep)
        .join("/")
    : null;
}

/** `@netfacts/ingest/app` → `@netfacts/ingest`; `node:fs` stays. */
export function packageName(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

async function readPackage(root: string, folder: string): Promise<Package> {
  const { name, dependencies = {}, devDependencies = {} } = await readManifest(root, join(folder, "package.json"));
  return {
    name,
    folder,
    kind: folder.startsWith("libs/") ? "lib" : "service",
    dependencies: Object.keys(dependencies),
    devDependencies: Object.keys(devDependencies),
    files: await readFiles(root, `${folder}/{src,test,bench}/**/*.{ts,tsx}`),
  };
}

async function readManifest(root: string, path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, path), "utf8"));
}

async function readFiles(root: string, pattern: string): Promise<SourceFile[]> {
  const paths = globSync(pattern, { cwd: root }).sort();
  return Promise.all(
    paths.map(async (path) => ({ path: path.split(sep).join("/"), imports: readImports(await readFile(join(root, path), "utf8")) })),
  );
}
