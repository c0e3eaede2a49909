/**
 * The programs as plain JavaScript, with the packages that they use: they start in a third of the time that the sources take.
 * Modules keep the paths of their sources: `services/ingest/src/main.js` starts ingest.
 */

import { copyFile, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";

const root = resolve(import.meta.dirname, "..");
/** A module that is bundled finds this folder by its name. */
const folderName = "bundle";

const programs = ["standalone", "gateway-auth-quota", "ip-routing", "asn-prefix", "rdns-resolver", "ingest", "cli"].map(
  (service) => `services/${service}/src/main.ts`,
);
/** What is loaded by the URL of its file: the modules of threads, and the store that the loader's thread opens. */
const loadedByUrl = [
  "libs/content/src/bzip2-thread.ts",
  "libs/pod/src/jetstream/loader-store.ts",
  "libs/snapshot/src/loader-worker.ts",
  "services/ingest/src/pipeline/rib-thread.ts",
  "services/ingest/src/runs/run-worker.ts",
];
/** Traces are made by hooks that find these packages by their names as they are loaded; the last is read as files. */
const external = ["@opentelemetry/*", "@fastify/otel", "mongodb", "@fastify/swagger-ui"];

/**
 * Writes the programs into the folder `bundle` of `parent`, which must not exist. Packages that stay outside, and the samples, are
 * found through links to those of this checkout.
 *
 * @returns the folder.
 */
export async function bundle(parent: string): Promise<string> {
  const folder = join(parent, folderName);
  await build({
    absWorkingDir: root,
    entryPoints: [...programs, ...loadedByUrl],
    outdir: folder,
    outbase: ".",
    chunkNames: "chunks/[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    conditions: ["source"],
    mainFields: ["module", "main"],
    external,
    // CommonJS packages ask for Node's modules by `require`.
    banner: { js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);' },
    plugins: [urlsOfSources()],
    logLevel: "warning",
  });
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  await writeFile(join(folder, "package.json"), `${JSON.stringify({ private: true, type: "module", version })}\n`);
  for (const program of programs) {
    const manifest = join(dirname(dirname(program)), "package.json");
    await copyFile(join(root, manifest), join(folder, manifest));
  }
  for (const name of ["node_modules", "samples"]) await symlink(join(root, name), join(folder, name));
  return folder;
}

/** Gives `import.meta.url` the path of the source below the folder, though its code may stand in a chunk. */
function urlsOfSources(): Plugin {
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
