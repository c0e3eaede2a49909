/** At most one run at a time in a state folder, across processes. */

import { join } from "node:path";
import { makeFolder } from "@netfacts/storage";
import { takeLock } from "../fetch/lock.ts";

/** Resolves when no other run uses the folder. @returns a function that releases it */
export async function lockRuns(stateFolder: string, signal: AbortSignal, onWaiting: () => void): Promise<() => void> {
  makeFolder(stateFolder);
  return takeLock(join(stateFolder, "runs.lock"), signal, onWaiting);
}
