/** Files that are read again after a crash. */

import { rename, rm, writeFile } from "node:fs/promises";

/**
 * At any moment either the old text or the new one, also after a power cut. What a full disk does not take leaves its room.
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
