/** The files that a container image adds to its base: node, the programs, the packages that they need, samples, licences and the list of parts. */

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, copyFile, cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { bundle, external, programNames } from "../bundle.ts";
import { environment, folders, uid } from "./config.ts";
import { keepParts, readPartsList } from "./parts-list.ts";
import {
  closureOf,
  copyPackage,
  identity,
  type LockedPackages,
  licenceTexts,
  lockedPackages,
  ownIdentities,
} from "./production-packages.ts";

const run = promisify(execFile);

export interface TreeOptions {
  /** The repository. */
  readonly root: string;
  /** Folder that becomes the root of the image's files; its previous content is removed. */
  readonly to: string;
  /** Path of the Node that is copied and that fills the compile cache. Default: the running one. */
  readonly node?: string;
  /** Whether to fill Node's compile cache. Default: true. */
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
  await writeFile(join(app, "sbom.cdx.json"), await partsOfImage(root, packages, locked, node));

  const program = join(to, folders.node);
  await mkdir(dirname(program), { recursive: true });
  await copyFile(node, program);
  await chmod(program, 0o755);
  await mkdir(join(to, folders.data), { recursive: true });
  // Any user that a cluster selects may write there. If the root file system is read-only, a volume is mounted there.
  await chmod(join(to, folders.data), 0o1777);
  await mkdir(join(to, folders.compiled), { recursive: true });
  if (compiled) await fillCompileCache(to, program);
  return packages.map((path) => identity(path, locked));
}

/** Folders of the packages that have files in the bundle. */
function bundledPackages(inputs: readonly string[], locked: LockedPackages): string[] {
  return inputs.flatMap((path) => {
    const found = /^((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
    return found !== undefined && locked[found] !== undefined ? [found] : [];
  });
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

/** The list of exactly the parts in the image. */
async function partsOfImage(root: string, packages: readonly string[], locked: LockedPackages, node: string): Promise<string> {
  const list = await readPartsList(root);
  keepParts(list, new Set([...packages.map((path) => identity(path, locked)), ...ownIdentities(locked)]));
  const version = (await run(node, ["--version"])).stdout.trim().slice(1);
  list.components.push({ "bom-ref": `node@${version}`, type: "platform", name: "node", version, purl: `pkg:generic/node@${version}` });
  return `${JSON.stringify(list, null, 1)}\n`;
}

/**
 * Starts each service with an invalid setting, and the command line with `--version`: both end after they have loaded their code. Node stores
 * compiled code in a folder named after the user's number, which is renamed to the number of the image's user.
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
