/** Programs that a package manager installs for tests, once, into a folder of the cache. */

import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { type FoundTool, isProgram } from "./debian.ts";
import { toolCache, withLock } from "./tool-cache.ts";

/**
 * The program of a folder in the cache; the folder appears as a whole, when `install` has filled it.
 *
 * @param name  of the folder; it names the version too.
 * @param program  path in the folder.
 * @param remedy  what installs it by hand.
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
