/** Replaces files that must be readable after a crash. */

import { rename, rm, writeFile } from "node:fs/promises";

/**
 * The file has either the old text or the new one at any time, also after a power failure. If the disk is full, the space is freed again.
 *
 * @throws Error with the path and the reason; `cause` is the system's error.
 */
export async function replaceText(path: string, text: string): Promise<void> {
  const next = `${path}.next`;
  try {
    await writeFile(next, text, { flush: true });
    await rename(next, path);
  } catch (cause) {
    await rm(next, { force: true }).catch(() => undefined);
    throw new Error(`${path} cannot be written: ${(cause as Error).message}`, { cause });
  }
}
