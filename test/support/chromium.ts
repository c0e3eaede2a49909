/** Headless Chromium, driven by Playwright, for tests of our pages. Uses the one on PATH, the cached one, or a build for servers from npm. */

import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { type BrowserContext, chromium } from "playwright-core";
import { type FoundTool, findInstalledTool, isProgram } from "./debian.ts";
import { toolCache, withLock } from "./tool-cache.ts";

/** Package with the browser and the libraries that a minimal machine lacks. Its own code is not run. */
const npmPackage = "@sparticuz/chromium@147.0.0";
/** Folder of the browser in the cache; scripts/doctor.sh also names it. */
export const chromiumFolder = npmPackage.replaceAll(/[@/]+/g, "-").slice(1);
const run = promisify(execFile);
const unpack = promisify(brotliDecompress);

/** Looks at `CHROMIUM` in the environment, then in PATH, the cache and the registry. Cost the first time: a download of 68 MB. */
export async function findChromium(): Promise<FoundTool> {
  const installed = await findInstalledTool({ name: "chromium", variable: "CHROMIUM" });
  if (installed !== null) return installed;
  const folder = join(toolCache(), chromiumFolder);
  const found = (origin: "cache" | "registry"): FoundTool => ({
    found: true,
    command: join(folder, "chromium"),
    env: { LD_LIBRARY_PATH: join(folder, "lib") },
    origin,
  });
  await mkdir(toolCache(), { recursive: true });
  return await withLock(`${folder}.lock`, async () => {
    if (await isProgram(join(folder, "chromium"))) return found("cache");
    if (process.arch !== "x64") return { found: false, remedy: "install Chromium, or set CHROMIUM to its path" };
    try {
      await download(folder);
      return found("registry");
    } catch (error) {
      return { found: false, remedy: `install Chromium, or set CHROMIUM to its path (download failed: ${(error as Error).message})` };
    }
  });
}

async function download(folder: string): Promise<void> {
  const work = await mkdtemp(`${folder}.`);
  try {
    // Use the system's certificates, which the machine's own npm may find in a place where this one does not look.
    await run("npm", ["pack", "--silent", npmPackage], { cwd: work, env: { ...process.env, NODE_USE_SYSTEM_CA: "1" } });
    const [archive = ""] = await readdir(work);
    await run("tar", ["-xzf", archive, "--strip-components=2", "package/bin"], { cwd: work });
    await writeFile(join(work, "chromium"), await unpack(await readFile(join(work, "chromium.br"))));
    await chmod(join(work, "chromium"), 0o755);
    for (const name of ["al2023", "fonts", "swiftshader"]) {
      await writeFile(join(work, `${name}.tar`), await unpack(await readFile(join(work, `${name}.tar.br`))));
      await run("tar", ["-xf", `${name}.tar`], { cwd: work });
    }
    for (const name of await readdir(work)) if (/\.(br|tar|tgz)$/.test(name)) await rm(join(work, name));
    await rename(work, folder);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const flags = [
  "--headless",
  "--no-sandbox",
  "--no-zygote",
  "--disable-gpu",
  "--renderer-process-limit=1",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export interface Browser {
  readonly context: BrowserContext;
  stop(): Promise<void>;
}

/** Starts a browser with a temporary profile. */
export async function startChromium(tool: Extract<FoundTool, { found: true }>): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), "netfacts-chromium-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: tool.command,
    args: flags,
    env: { ...process.env, ...tool.env, HOME: folder, NODE_OPTIONS: "" },
    viewport: { width: 1280, height: 900 },
    timeout: 60_000,
  });
  return {
    context,
    async stop() {
      await context.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
