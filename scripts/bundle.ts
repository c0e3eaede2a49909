/**
 * Bundles the programs with the packages that they use, as plain JavaScript. A bundle starts in a third of the time that the sources take.
 * Modules keep the paths of their sources: `services/ingest/src/main.js` starts ingest.
 */

import { copyFile, cp, readFile, symlink, writeFile } from "node:fs/promises";
import http from "node:http";
import { dirname, join, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { buildConsole, consoleSite } from "./console.ts";
import { directImports } from "./direct-imports.ts";
import { buildDocs, docsSite } from "./docs-site/site.ts";

const root = resolve(import.meta.dirname, "..");

/** Names of the programs; `cli` is the command line. */
export const programNames = ["standalone", "gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver", "ingest", "cli"] as const;
const programs = programNames.map((service) => `services/${service}/src/main.ts`);
/** Modules that are loaded by the URL of their file: those of threads, and the store that the loader's thread opens. */
const loadedByUrl = [
  "libs/content/src/bzip2-thread.ts",
  "libs/pod/src/jetstream/loader-store.ts",
  "libs/pod/src/past/past-worker.ts",
  "libs/snapshot/src/loader-worker.ts",
  "services/ingest/src/compare/compare-worker.ts",
  "services/ingest/src/fetch/feed-worker.ts",
  "services/ingest/src/pipeline/rib-thread.ts",
  "services/ingest/src/runs/run-worker.ts",
];
/** Packages that are not bundled. Hooks for traces find them by name when they are loaded; the last one is read as files. */
export const external = ["@opentelemetry/*", "@fastify/otel", "mongodb", "@fastify/swagger-ui"];

export interface BundleOptions {
  /** Name of the folder. Bundled modules find the folder by this name, so no folder below may have it. Default: `bundle`. */
  readonly name?: string;
  /** Further programs: path in the folder, without `.js` → source file, from the repository's root. */
  readonly further?: Readonly<Record<string, string>>;
  /** Whether the folder has links to the `node_modules` and the samples of this checkout. Default: true. */
  readonly linked?: boolean;
}

export interface Bundle {
  readonly folder: string;
  /** Source files of the bundle, from the repository's root. */
  readonly inputs: readonly string[];
}

/** Writes the programs into a new folder below `parent`. The new folder must not exist. */
export async function bundle(parent: string, { name = "bundle", further = {}, linked = true }: BundleOptions = {}): Promise<Bundle> {
  const folder = join(parent, name);
  const entries = Object.entries(further);
  const stores = entries.filter(([path]) => path.endsWith("-store"));
  const inputs = await Promise.all([
    buildInto(folder, name, [...named(programs), ...entries.filter((entry) => !stores.includes(entry))], (text) => text),
    // Threads start often, so they load no more than they use. Stores are built with them, because threads recognize errors of stores by their classes.
    buildInto(folder, name, [...named(loadedByUrl), ...stores], directImports(root)),
  ]);
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  await writeFile(join(folder, "package.json"), `${JSON.stringify({ private: true, type: "module", version })}\n`);
  for (const program of programs) {
    const manifest = join(dirname(dirname(program)), "package.json");
    await copyFile(join(root, manifest), join(folder, manifest));
  }
  const consoleInputs = await buildConsole();
  const docsInputs = await buildDocs();
  for (const site of [consoleSite, docsSite]) await cp(join(root, site), join(folder, site), { recursive: true });
  if (linked) for (const path of ["node_modules", "samples"]) await symlink(join(root, path), join(folder, path));
  return { folder, inputs: [...new Set(inputs.flat()), ...consoleInputs, ...docsInputs] };
}

function named(paths: readonly string[]): [path: string, source: string][] {
  return paths.map((path) => [path.replace(/\.ts$/, ""), path]);
}

/** @returns source files, from the repository's root. */
async function buildInto(
  folder: string,
  name: string,
  entries: readonly (readonly [path: string, source: string])[],
  rewrite: (text: string) => string,
): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries),
    outdir: folder,
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    metafile: true,
    format: "esm",
    platform: "node",
    target: "node24",
    conditions: ["source"],
    mainFields: ["module", "main"],
    external: [...external],
    // CommonJS packages load Node's modules with `require`.
    banner: { js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);' },
    plugins: [urlsOfSources(name, rewrite), httpWithoutFetch()],
    logLevel: "warning",
  });
  return Object.keys(metafile.inputs);
}

/** Makes `import.meta.url` the path of the source below the folder, even if its code is in a chunk. @param rewrite  changes the text before. */
function urlsOfSources(folderName: string, rewrite: (text: string) => string): Plugin {
  return {
    name: "urls-of-sources",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (path.includes("/node_modules/")) return null;
        const text = rewrite(await readFile(path, "utf8"));
        const place = `/${folderName}/`;
        const url = `(import.meta.url.slice(0, import.meta.url.lastIndexOf("${place}") + ${place.length}) + ${JSON.stringify(relative(root, path).replace(/\.ts$/, ".js"))})`;
        return { contents: text.replaceAll("import.meta.url", url), loader: "ts" };
      });
    },
  };
}

/**
 * An `import` of `node:http` reads all its members. Three of them load `fetch` and WebSocket, which takes 20 ms at each start.
 * This module has only the others.
 */
function httpWithoutFetch(): Plugin {
  const dear = new Set(["WebSocket", "CloseEvent", "MessageEvent"]);
  const names = Object.keys(http).filter((name) => !dear.has(name));
  const contents = `const http = process.getBuiltinModule("node:http");\nexport default http;\nexport const { ${names.join(", ")} } = http;\n`;
  const namespace = "http-without-fetch";
  return {
    name: namespace,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^node:http$/ }, ({ kind, path }) => (kind === "import-statement" ? { path, namespace } : null));
      onLoad({ filter: /.*/, namespace }, () => ({ contents }));
    },
  };
}
