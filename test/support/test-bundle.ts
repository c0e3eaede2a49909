/**
 * Bundles test files with the sources that they use, as plain JavaScript, so that some ten modules are loaded for a file instead of some hundreds
 * (docs/decisions/0053-tests-run-from-a-bundle.md). Packages stay outside (docs/decisions/0101-test-files-share-their-packages.md).
 */

import { existsSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { type BuildFailure, build, type Plugin, transform } from "esbuild";
import { runFolderVariable } from "./run-folder.ts";

/** Marks a question of `packagesOutside` itself. */
const asked = Symbol("asked");

/**
 * Writes the bundle of these files into the run's folder, with source maps. A test file that does not compile is left out: Jest loads the file
 * itself and reports the error. If a source does not compile, there is no bundle.
 *
 * @param root  absolute path of the folder to which paths in the bundle are relative. `paths` are also absolute.
 */
export async function bundleTests(root: string, paths: readonly string[]): Promise<void> {
  const folder = bundleFolder();
  if (folder === null || paths.length === 0) return;
  rmSync(folder, { recursive: true, force: true });
  try {
    await writeBundle(root, folder, paths);
  } catch (error) {
    if (!isBuildFailure(error)) throw error;
    const wrong = new Set(error.errors.map(({ location }) => resolve(root, location?.file ?? "")));
    const others = paths.filter((path) => !wrong.has(path));
    if (others.length < paths.length) await bundleTests(root, others);
  }
}

async function writeBundle(root: string, folder: string, paths: readonly string[]): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: [...paths],
    outbase: root,
    outdir: folder,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    conditions: ["source"],
    sourcemap: "linked",
    sourcesContent: false,
    // Tests assert the names of classes.
    keepNames: true,
    plugins: [placesOfSources(), packagesOutside(root)],
    logLevel: "silent",
  });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}\n');
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && "errors" in error;
}

/** The bundled file that Jest runs instead of a test file; the file itself if the bundle does not have it. */
export function bundledTest(root: string, path: string): string {
  const folder = bundleFolder();
  if (folder === null) return path;
  const bundled = join(folder, relative(root, path).replace(/\.ts$/, ".js"));
  return existsSync(bundled) ? bundled : path;
}

function bundleFolder(): string | null {
  const run = process.env[runFolderVariable];
  return run === undefined ? null : join(run, "tests");
}

/**
 * Leaves packages out of the bundle, as files of one worker share them. A package that only one of the house's packages has, in another version
 * than the rest, is bundled: from the bundle's folder Node would find that of the rest.
 */
function packagesOutside(root: string): Plugin {
  const ofThisHouse = new RegExp(`^(libs|services)\\${sep}`);
  return {
    name: "packages-outside",
    setup({ onResolve, resolve }) {
      onResolve({ filter: /^[^./]/ }, async ({ path, pluginData, ...from }) => {
        if (pluginData === asked || from.kind === "entry-point") return null;
        const found = await resolve(path, { ...from, pluginData: asked });
        const isShared = found.errors.length > 0 || !ofThisHouse.test(relative(root, found.path));
        return isShared ? { path, external: true } : found;
      });
    },
  };
}

/** Gives modules the paths of their sources, so that they find fixtures, programs and threads as in a checkout. */
function placesOfSources(): Plugin {
  return {
    name: "places-of-sources",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (path.includes(`${sep}node_modules${sep}`)) return null;
        const text = await readFile(path, "utf8");
        if (!text.includes("import.meta.")) return null;
        const places = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
        const { code } = await transform(text, {
          loader: "ts",
          define: Object.fromEntries(Object.entries(places).map(([name, place]) => [`import.meta.${name}`, JSON.stringify(place)])),
          tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
          sourcefile: path,
          sourcemap: "inline",
          sourcesContent: false,
        });
        return { contents: code, loader: "js" };
      });
    },
  };
}
