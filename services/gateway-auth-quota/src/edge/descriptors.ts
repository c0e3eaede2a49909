/** File descriptors of this process: how many of them callers may use. */

import { readFileSync } from "node:fs";

/** Least number of file descriptors that are not for callers; a quarter of all if that is more. */
const ownDescriptors = 64;

/** Number of connections that leave enough file descriptors for stores, messages and files; infinite if the system reports no limit. */
export function descriptorsForCallers(): number {
  let limits: string;
  try {
    limits = readFileSync("/proc/self/limits", "utf8");
  } catch {
    return Number.POSITIVE_INFINITY;
  }
  const open = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.NaN);
  return Number.isNaN(open) ? Number.POSITIVE_INFINITY : Math.max(1, open - Math.max(ownDescriptors, Math.floor(open / 4)));
}
