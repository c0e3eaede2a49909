/** Programs that a package manager installs once for tests, into a folder of the cache. */

import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type FoundTool, isProgram } from "./debian.ts";
import { toolCache, withLock } from "./tool-cache.ts";

/**
 * Finds a program in a folder of the cache, or installs it. The folder appears when `install` has filled it completely.
 *
 * @param name  name of the folder, with the version.
 * @param program  path of the program in the folder.
 * @param remedy  how to install it by hand.
 */
export async function findCachedTool(
  name: string,
  program: string,
  install: (folder: string) => Promise<unknown>,
  remedy: string,
): Promise<FoundTool> {
  const folder = join(toolCache(), name);
  const command = join(folder, program);
  const found = (origin: "cache" | "registry"): FoundTool => ({ found: true, command, env: {}, origin });
  await mkdir(toolCache(), { recursive: true });
  return await withLock(`${folder}.lock`, async () => {
    if (await isProgram(command)) return found("cache");
    const work = await mkdtemp(`${folder}.`);
    try {
      await install(work);
      await rename(work, folder);
      return found("registry");
    } catch (error) {
      const { message, stderr } = error as Error & { stderr?: string };
      return { found: false, remedy: `${remedy} (failed: ${(stderr || message).trim().split("\n").at(-1)})` };
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  });
}
