/** A thread that lets others go first. */

import { setPriority } from "node:os";

/**
 * Lowers the priority of the calling thread, as nothing of today waits for its work. Linux has a priority for each thread, and 0 is the one
 * that asks; where it is the whole process's, it stays.
 *
 * @param priority  of `os.constants.priority`.
 */
export function lowerPriority(priority: number): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, priority);
  } catch {
    // A sandbox that does not allow it costs others some time, and nothing else.
  }
}
