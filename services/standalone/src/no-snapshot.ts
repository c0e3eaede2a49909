/** Why the one-process form has no snapshot to serve, and what to do. */

import type { SnapshotStore } from "@netfacts/snapshot";

/**
 * @param refused  what is wrong with each snapshot that was refused.
 * @param folder   where they are.
 */
export async function noSnapshotText(
  refused: readonly string[],
  snapshots: Pick<SnapshotStore, "currentId">,
  folder: string,
): Promise<string> {
  // Who imported over it, or removed it, would lose it.
  if (refused.some((reason) => reason.includes("the newer version of Netfacts"))) return refused.join("; ");
  if (refused.length > 0) return `${refused.join("; ")}; import again with SOURCES=, or remove ${folder} to start with the sample dataset`;
  try {
    const id = await snapshots.currentId();
    if (id === null) return `there is no current snapshot in ${folder}; import again with SOURCES=`;
    return `the current snapshot ${id} in ${folder} was not loaded; start again`;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const remedy = /E[MN]FILE/.test(reason) ? "raise the limit of open files (ulimit -n)" : "make it readable";
    return `the current snapshot in ${folder} cannot be read: ${reason}; ${remedy} and start again`;
  }
}
