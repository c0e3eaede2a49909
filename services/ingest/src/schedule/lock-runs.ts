/** One run at a time in a state folder, whichever process it is of. */

import { join } from "node:path";
import { makeFolder } from "@netfacts/storage";
import { takeLock } from "../fetch/lock.ts";

/** Resolves when no other runs there. @returns what lets the next one begin */
export async function lockRuns(stateFolder: string, signal: AbortSignal, onWaiting: () => void): Promise<() => void> {
  makeFolder(stateFolder);
  return takeLock(join(stateFolder, "runs.lock"), signal, onWaiting);
}
