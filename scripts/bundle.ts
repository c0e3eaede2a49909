/**
 * The programs as plain JavaScript, with the packages that they use: they start in a third of the time that the sources take.
 * Modules keep the paths of their sources: `services/ingest/src/main.js` starts ingest.
 */

import { copyFile, cp, readFile, symlink, writeFile } from "node:fs/promises";
import http from "node:http";
import { dirname, join, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import { buildConsole, consoleSite } from "./console.ts";
import { buildDocs, docsSite } from "./docs-site/site.ts";

const root = resolve(import.meta.dirname, "..");

/** The programs by their names; `cli` is the command line. */
export const programNames = ["standalone", "gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver", "ingest", "cli"] as const;
const programs = programNames.map((service) => `services/${service}/src/main.ts`);
/** What is loaded by the URL of its file: the modules of threads, and the store that the loader's thread opens. */
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
/** Traces are made by hooks that find these packages by their names as they are loaded; the last is read as files. */
export const external = ["@opentelemetry/*", "@fastify/otel", "mongodb", "@fastify/swagger-ui"];

export interface BundleOptions {
  /** Name of the folder, by which a module that is bundled finds it; no folder below has it. Default: `bundle`. */
  readonly name?: string;
  /** Further programs: the file of each, from the repository's root, by where it stands in the folder, without `.js`. */
  readonly further?: Readonly<Record<string, string>>;
  /** Whether packages that stay outside, and the samples, are found through links to those of this checkout. Default: true. */
  readonly linked?: boolean;
}

export interface Bundle {
  readonly folder: string;
  /** Files whose text is in the bundle, from the repository's root. */
  readonly inputs: readonly string[];
}

/** Writes the programs into a folder of `parent`, which must not exist. */
export async function bundle(parent: string, { name = "bundle", further = {}, linked = true }: BundleOptions = {}): Promise<Bundle> {
  const folder = join(parent, name);
  const entries = [...programs, ...loadedByUrl].map((path) => [path.replace(/\.ts$/, ""), path]);
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries([...entries, ...Object.entries(further)]),
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
    // CommonJS packages ask for Node's modules by `require`.
    banner: { js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);' },
    plugins: [urlsOfSources(name), httpWithoutFetch()],
    logLevel: "warning",
  });
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
  return { folder, inputs: [...Object.keys(metafile.inputs), ...consoleInputs, ...docsInputs] };
}

/** Gives `import.meta.url` the path of the source below the folder, though its code may stand in a chunk. */
function urlsOfSources(folderName: string): Plugin {
  return {
    name: "urls-of-sources",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        if (!text.includes("import.meta.url") || path.includes("/node_modules/")) return null;
        const place = `/${folderName}/`;
        const url = `(import.meta.url.slice(0, import.meta.url.lastIndexOf("${place}") + ${place.length}) + ${JSON.stringify(relative(root, path).replace(/\.ts$/, ".js"))})`;
        return { contents: text.replaceAll("import.meta.url", url), loader: "ts" };
      });
    },
  };
}

/**
 * An `import` of `node:http` reads all its members, and three of them load `fetch` and WebSocket: 20 ms of each start.
 * This module has the others.
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
