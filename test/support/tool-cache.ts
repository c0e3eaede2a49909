/** The cache of programs for tests, and a lock, so that two Jest workers do not get the same program at the same time. */

import { readlink, rm, stat, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** `${XDG_CACHE_HOME:-~/.cache}/netfacts`. */
export function toolCache(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "netfacts");
}

/**
 * Runs `work` while this process holds the lock, whose folder must exist. The lock is a symbolic link to its owner's process number, as in
 * scripts/lock.sh, so that a lock of a dead owner is recognised. Rejects after `waitMsMax`.
 */
export async function withLock<T>(path: string, work: () => Promise<T>, waitMsMax = 600_000): Promise<T> {
  const deadline = performance.now() + waitMsMax;
  while (!(await take(path))) {
    if (performance.now() > deadline) throw new Error(`another process still holds ${path}: remove that file if none does`);
    await sleep(200);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const owner = Number(await readlink(path).catch(() => Number.NaN));
  if (Number.isInteger(owner) && owner !== process.pid && !(await isAlive(owner))) await rm(path, { force: true });
  return false;
}

/** Another user's process cannot be signalled, but is in /proc. */
async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EPERM") return true;
    return await stat(`/proc/${pid}`).then(
      () => true,
      () => false,
    );
  }
}
