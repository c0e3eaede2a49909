/** The log of the one-process form: a file beside its data, as the terminal is for people. */

import { renameSync, statSync } from "node:fs";
import { join } from "node:path";

/** A log that is larger at a start is set aside as `netfacts.log.1`; the one before it goes. */
const logBytesMax = 16 * 1024 * 1024;

/** The path of the log file in the state folder. */
export function openLogFile(folder: string): string {
  const path = join(folder, "netfacts.log");
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > logBytesMax) renameSync(path, `${path}.1`);
  return path;
}
