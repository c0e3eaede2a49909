/**
 * Builds the console (services/console) into files that the gateway serves: `services/console/dist/site`. Does nothing if the sources have not
 * changed. scripts/build-console.ts is the command; scripts/run.sh runs it before a program that serves the files.
 */

import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { extname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import { replaceFolder } from "./replace-folder.ts";

const root = resolve(import.meta.dirname, "..");
const folder = join(root, "services/console");

/** Folder that the gateway reads, from the root of the repository and of a bundle. */
export const consoleSite = "services/console/dist/site";
/** Two builds, so that the public files have no part of the pages for operators. */
const sites = [
  { page: "index.html", folder: "" },
  { page: "operator.html", folder: "operator" },
] as const;
/** File of the site that says from which sources it was built. */
const builtFile = "built.json";
/** Files that are compressed already; the build also compresses the others. */
const compressed = new Set([".png", ".woff2"]);

interface Built {
  /** SHA-256 of the sources. */
  readonly sources: string;
  /** Paths of the bundled modules, from the repository's root. */
  readonly inputs: readonly string[];
}

/** @returns paths of the bundled modules, from the repository's root. */
export async function buildConsole(): Promise<readonly string[]> {
  const sources = hashOfSources();
  const built = await readBuilt();
  if (built?.sources === sources) return built.inputs;
  await mkdir(join(folder, "dist"), { recursive: true });
  const work = await mkdtemp(join(folder, "dist/site."));
  try {
    const inputs = new Set<string>();
    for (const { page, folder } of sites) for (const input of await runVite(page, join(work, folder))) inputs.add(input);
    for (const name of await readdir(work, { recursive: true })) {
      if (extname(name) === "" || compressed.has(extname(name))) continue;
      const bytes = await readFile(join(work, name));
      await writeFile(join(work, `${name}.gz`), await promisify(gzip)(bytes, { level: 9 }));
      await writeFile(join(work, `${name}.br`), await promisify(brotliCompress)(bytes));
    }
    await writeFile(join(work, builtFile), JSON.stringify({ sources, inputs: [...inputs].sort() } satisfies Built));
    await replaceFolder(work, join(root, consoleSite));
    return [...inputs].sort();
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function hashOfSources(): string {
  const hash = createHash("sha256");
  const paths = globSync(
    ["services/console/{*.html,package.json}", "services/console/src/**/*.*", "libs/{address,client,contracts}/src/**/*.ts"],
    {
      cwd: root,
    },
  );
  for (const path of [...paths, "package-lock.json", relative(root, import.meta.filename)].sort())
    hash.update(path).update(readFileSync(join(root, path)));
  return hash.digest("hex");
}

async function readBuilt(): Promise<Built | null> {
  const text = await readFile(join(root, consoleSite, builtFile), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as Built);
}

async function runVite(page: string, outDir: string): Promise<string[]> {
  const { build } = await import("vite");
  const output = await build({
    configFile: false,
    root: folder,
    base: "/console/",
    logLevel: "warn",
    resolve: { conditions: ["source", "module", "browser", "production"] },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    build: {
      outDir,
      emptyOutDir: true,
      rollupOptions: { input: join(folder, page) },
      assetsDir: "",
      modulePreload: false,
      target: "es2022",
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
    },
  });
  const chunks = [output].flat().flatMap((each) => ("output" in each ? each.output : []));
  const modules = chunks.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
  return modules.filter((id) => id.startsWith(root)).map((id) => relative(root, id));
}
