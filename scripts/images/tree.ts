/** The files that a container image adds to its base: node, the programs, the packages that they need, samples, licences and the list of parts. */

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { bundle, external, programNames } from "../bundle.ts";
import { environment, folders, uid } from "./config.ts";
import { closureOf, copyPackage, type LockedPackages, licenceTexts, lockedPackages } from "./production-packages.ts";

const run = promisify(execFile);

export interface TreeOptions {
  /** The repository. */
  readonly root: string;
  /** Becomes the root of the image's files; what is there is removed. */
  readonly to: string;
  /** The Node that is copied and that fills the compile cache. Default: the one that runs. */
  readonly node?: string;
  /** Whether Node's compile cache is filled. Default: true. */
  readonly compiled?: boolean;
}

/** @returns the packages in the tree, as `name@version`, sorted. */
export async function assembleTree({ root, to, node = process.execPath, compiled = true }: TreeOptions): Promise<string[]> {
  await rm(to, { recursive: true, force: true });
  const app = join(to, folders.app);
  await mkdir(app, { recursive: true });
  const { inputs } = await bundle(to, { name: folders.app.slice(1), further: { netfacts: "scripts/images/entry.ts" }, linked: false });

  const locked = await lockedPackages(root);
  const copied = closureOf(locked, external);
  for (const path of copied) await copyPackage(join(root, path), join(app, path));
  const packages = [...new Set([...bundledPackages(inputs, locked), ...copied])].sort();

  for (const name of ["sources.yaml", "data", "README.md"])
    await cp(join(root, "samples", name), join(app, "samples", name), { recursive: true });
  await copyFile(join(root, "services/ingest/sources.default.yaml"), join(app, "services/ingest/sources.default.yaml"));
  await copyFile(join(root, "LICENSE"), join(app, "LICENSE"));
  await writeFile(join(app, "THIRD_PARTY_LICENSES"), await licencesOf(root, packages, locked));
  await writeFile(join(app, "sbom.cdx.json"), await partsList(root, packages, locked, node));

  const program = join(to, folders.node);
  await mkdir(dirname(program), { recursive: true });
  await copyFile(node, program);
  await chmod(program, 0o755);
  await mkdir(join(to, folders.data), { recursive: true });
  // Whichever user a cluster selects may write there; where the root file system is read-only, a volume stands there.
  await chmod(join(to, folders.data), 0o1777);
  await mkdir(join(to, folders.compiled), { recursive: true });
  if (compiled) await fillCompileCache(to, program);
  return packages.map((path) => identity(path, locked));
}

/** Folders of the packages whose files are in the bundle. */
function bundledPackages(inputs: readonly string[], locked: LockedPackages): string[] {
  return inputs.flatMap((path) => {
    const found = /^((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    return found !== undefined && locked[found] !== undefined ? [found] : [];
  });
}

function identity(path: string, locked: LockedPackages): string {
  return `${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${locked[path]?.version}`;
}

async function licencesOf(root: string, packages: readonly string[], locked: LockedPackages): Promise<string> {
  const parts: string[] = [];
  for (const path of packages) {
    const { license } = JSON.parse(await readFile(join(root, path, "package.json"), "utf8")) as { license?: string };
    const texts = await licenceTexts(join(root, path));
    parts.push([`${identity(path, locked)} (${license ?? "see below"})`, ...texts.map((text) => text.trim())].join("\n\n"));
  }
  return `${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}

interface PartsList {
  components: { readonly "bom-ref": string; readonly purl: string }[];
  dependencies?: { readonly ref: string; dependsOn?: string[] }[];
}

/** CycloneDX as npm writes it, with what is in the image and nothing else. */
async function partsList(root: string, packages: readonly string[], locked: LockedPackages, node: string): Promise<string> {
  // `--omit=dev` would also leave out what one of our packages needs at run time and another one only in its tests.
  const args = ["sbom", "--sbom-format=cyclonedx", "--sbom-type=application", "--package-lock-only", "--loglevel=error"];
  const { stdout } = await run("npm", args, { cwd: root, maxBuffer: 1 << 26 });
  const list = JSON.parse(stdout) as PartsList;
  const own = Object.entries(locked).flatMap(([path, { version }]) =>
    /^(libs|services)\/[^/]+$/.test(path) ? [`@netfacts/${path.split("/")[1]}@${version}`] : [],
  );
  const kept = new Set([...packages.map((path) => identity(path, locked)), ...own]);
  const version = (await run(node, ["--version"])).stdout.trim().slice(1);
  const nodePart = { "bom-ref": `node@${version}`, type: "platform", name: "node", version, purl: `pkg:generic/node@${version}` };
  list.components = [...list.components.filter((part) => kept.has(part["bom-ref"])), nodePart];
  const refs = new Set(list.components.map((part) => part["bom-ref"]));
  list.dependencies = (list.dependencies ?? [])
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) }));
  return `${JSON.stringify(list, null, 1)}\n`;
}

/**
 * Starts each program with a setting that it refuses: it has loaded its code by then. Node keeps compiled code by the number of the user,
 * which is the image's afterwards.
 */
async function fillCompileCache(to: string, program: string): Promise<void> {
  const cache = join(to, folders.compiled);
  for (const name of programNames) {
    const child = spawn(program, [join(to, folders.app, "netfacts.js"), name, "--version"], {
      cwd: to,
      env: { ...environment, NODE_COMPILE_CACHE: cache, LOG_LEVEL: "none", TELEMETRY_PORT: "none" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let faults = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      faults += text;
    });
    const [status] = (await once(child, "close")) as [number | null];
    const wanted = name === "cli" ? status === 0 : status === 2 && faults.includes("TELEMETRY_PORT must be");
    if (!wanted) throw new Error(`${name} does not start from the tree:\n${faults}`);
  }
  for (const name of await readdir(cache)) await rename(join(cache, name), join(cache, name.replace(/-\d+$/, `-${uid}`)));
}
