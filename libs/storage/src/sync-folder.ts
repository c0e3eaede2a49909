/** Makes the names in a folder safe from a power failure. */

import { open } from "node:fs/promises";

/** Call it after a file was created or renamed in the folder; the file itself must be synced before. @throws the system's error */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
