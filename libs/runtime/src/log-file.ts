/** A log file with a limited size: it is rotated while the process runs, and one earlier file is kept. */

import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import type { DestinationStream } from "pino";
import { linesOfTurn, openStream } from "./log-destination.ts";

export interface LogFileOptions {
  /** Size above which the file is renamed to `<path>.1`, in bytes. */
  readonly bytesMax: number;
  /** Age of the first line at which the file is rotated, in ms. An earlier file of this age is removed. */
  readonly ageMsMax: number;
  /**
   * Called with the reason when lines cannot be written, once until they can be written again: up to 1 MiB of lines wait, and the log cannot report
   * it.
   */
  readonly onFault?: (reason: string) => void;
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file cannot grow any further",
  EROFS: "the file system is read-only",
};

const aside = (path: string): string => `${path}.1`;
/** Only the owner may read the file: lines contain clients and their requests. */
const mode = 0o600;

/**
 * One file for any number of loggers of this process. Lines are written as by `openDestination`. If a file cannot be rotated, the log continues in
 * it; an earlier file that cannot be removed stays.
 */
export function openLogFile(path: string, { bytesMax, ageMsMax, onFault }: LogFileOptions): DestinationStream {
  const before = statSync(path, { throwIfNoEntry: false });
  const stream = openStream(path, mode);
  chmodSync(path, mode);
  let isFaulty = false;
  stream.on("write", () => {
    isFaulty = false;
  });
  stream.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (!isFaulty) onFault?.(reasons[code ?? ""] ?? "the system refuses it");
    isFaulty = true;
  });
  let bytes = before?.size ?? 0;
  let begunAt = bytes === 0 || before === undefined ? Date.now() : before.birthtimeMs || before.mtimeMs;
  let triedAt = Number.NEGATIVE_INFINITY;
  const rotate = (): void => {
    triedAt = performance.now();
    try {
      const old = statSync(path, { throwIfNoEntry: false });
      if (old !== undefined && Date.now() - old.mtimeMs > ageMsMax) rmSync(path);
      else renameSync(path, aside(path));
    } catch {
      return;
    }
    stream.reopen();
    bytes = 0;
    begunAt = Date.now();
  };
  const removeOld = (): void => {
    try {
      const old = statSync(aside(path), { throwIfNoEntry: false });
      if (old !== undefined && Date.now() - old.mtimeMs > ageMsMax) rmSync(aside(path), { force: true });
    } catch {
      // The system refuses it, for example on a read-only file system. The next interval tries again.
    }
  };
  removeOld();
  setInterval(removeOld, Math.min(ageMsMax, 3_600_000)).unref();
  return linesOfTurn({
    write(text) {
      const size = Buffer.byteLength(text);
      const now = Date.now();
      // After a clock that was set back, the age counts from then on.
      begunAt = Math.min(begunAt, now);
      const isDue = bytes > 0 && (bytes + size > bytesMax || now - begunAt > ageMsMax);
      // If the folder refuses the rotation, it is not tried again for each line.
      if (isDue && performance.now() - triedAt > retryMs) rotate();
      bytes += size;
      stream.write(text);
    },
  });
}

const retryMs = 10;
