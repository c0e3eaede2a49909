/** A log in a file that never grows past its bounds: it is set aside while the process runs, and one earlier file is kept. */

import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import type { DestinationStream } from "pino";
import { linesOfTurn, openStream } from "./log-destination.ts";

export interface LogFileOptions {
  /** Size beyond which the file is set aside as `<path>.1`, in bytes. */
  readonly bytesMax: number;
  /** Age of a file's first line from which the file is set aside, in ms. An earlier file of this age is removed. */
  readonly ageMsMax: number;
  /** Told why lines cannot be written, once until they can be again: up to 1 MiB of them wait, and nobody reads of it in the log. */
  readonly onFault?: (reason: string) => void;
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file cannot grow any further",
  EROFS: "the file system is read-only",
};

const aside = (path: string): string => `${path}.1`;
/** Only who owns the file reads it: lines name clients and what they asked. */
const mode = 0o600;

/**
 * One file for any number of loggers of this process. Lines are written as those of `openDestination` are. Where a file cannot be set
 * aside, the log continues in it.
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
    const old = statSync(aside(path), { throwIfNoEntry: false });
    if (old !== undefined && Date.now() - old.mtimeMs > ageMsMax) rmSync(aside(path), { force: true });
  };
  removeOld();
  setInterval(removeOld, Math.min(ageMsMax, 3_600_000)).unref();
  return linesOfTurn({
    write(text) {
      const size = Buffer.byteLength(text);
      const isDue = bytes > 0 && (bytes + size > bytesMax || Date.now() - begunAt > ageMsMax);
      // A folder that refuses is not asked again for each line.
      if (isDue && performance.now() - triedAt > retryMs) rotate();
      bytes += size;
      stream.write(text);
    },
  });
}

const retryMs = 10;
