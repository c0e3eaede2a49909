/** The reason why the one-process form has no snapshot to serve, with the remedy. */

import type { SnapshotStore } from "@netfacts/snapshot";

/**
 * @param refused  fault of each refused snapshot.
 * @param folder   folder of the snapshots.
 */
export async function noSnapshotText(
  refused: readonly string[],
  snapshots: Pick<SnapshotStore, "currentId">,
  folder: string,
): Promise<string> {
  // No remedy here: an import or a removal would lose the snapshot.
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
