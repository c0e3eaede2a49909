/** Copies the shared libraries of a program to where a container's loader looks for them. */

import { execFile } from "node:child_process";
import { copyFile, mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/**
 * Copies the libraries that `ldd` lists to the same paths below `root`. Libraries that are found only by `LD_LIBRARY_PATH` go beside the C library.
 *
 * @param env  `LD_LIBRARY_PATH` of a program that has its own libraries.
 */
export async function copyLibraries(program: string, root: string, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const { stdout } = await run("ldd", [program], { env: { PATH: process.env.PATH, ...env } }).catch((error: { stderr?: string }) => {
    // A static program has none, which `ldd` reports as a failure.
    if (error.stderr?.includes("not a dynamic executable")) return { stdout: "" };
    throw error;
  });
  const paths = (stdout.match(/\/\S+/g) ?? []).filter((path) => !path.endsWith(":"));
  const libc = paths.find((path) => basename(path).startsWith("libc.so"));
  for (const path of paths) {
    const isForeign = Object.values(env).some((folders) => folders.split(":").includes(dirname(path)));
    const to = join(root, isForeign && libc !== undefined ? join(dirname(libc), basename(path)) : path);
    await mkdir(dirname(to), { recursive: true });
    await copyFile(await realpath(path), to);
  }
}
