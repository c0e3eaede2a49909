/** Lowers the priority of a thread. */

import { setPriority } from "node:os";

/**
 * Lowers the priority of the calling thread, for work that no current answer waits for. Linux has a priority for each thread, and 0 means the calling
 * thread. On other systems it would change the whole process, so nothing is changed.
 *
 * @param priority  of `os.constants.priority`.
 */
export function lowerPriority(priority: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, priority);
  } catch {
    // If a sandbox does not allow it, other threads lose some time, and nothing else happens.
  }
}
