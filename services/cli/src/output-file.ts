/** Files that commands write. */

import { accessSync, createWriteStream, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isDiskFull, isNotWritable, syncFolder } from "@netfacts/storage";
import { CliError } from "./cli-error.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { interruptible } from "./interrupt.ts";
import { isReaderGone } from "./record-text.ts";

/**
 * Writes a whole file. An existing file is replaced only when the new one is complete and on the disk, so it stays after an error or a
 * signal. Of a link, the target is replaced. A pipe or a device gets the pieces as they are made, and its reader may end early.
 *
 * @throws CliError
 */
export async function writeWhole(path: string, pieces: Iterable<Uint8Array | string>): Promise<void> {
  await interruptible(async (signal) => {
    const file = orCannotWrite(path, () => replaceable(path));
    const written = file === null ? path : `${file}.${process.pid}.partial`;
    try {
      await pipeline(Readable.from(pieces), createWriteStream(written, { flush: file !== null }), { signal });
      if (file === null) return;
      await rename(written, file);
      // The file is whole: a folder that cannot be synced, or not be read, makes no failure of it.
      await syncFolder(dirname(file)).catch(() => undefined);
    } catch (error) {
      if (file === null && isReaderGone(error)) return;
      if (file !== null) await rm(written, { force: true });
      throw cannotWrite(path, error);
    }
  });
}

/** @throws CliError if anything has this name, even a dangling link, or if no file can have it, because its folder does not exist. */
export function refuseExisting(path: string): void {
  orCannotWrite(path, () => accessSync(`${dirname(path)}/.`));
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new CliError(exitCodes.refused, `${path} already exists: choose another path, or remove it first`);
}

/** The most frequent codes of errno(3), in words: the system's own message names the partial file. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: "its folder does not exist",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
};

/** Text and exit code for a system error of a write. */
export function writeFault({ code = "", message }: NodeJS.ErrnoException): { readonly reason: string; readonly exitCode: ExitCode } {
  if (isDiskFull(code)) return { reason: "the disk is full", exitCode: exitCodes.unavailable };
  return { reason: reasons[code] ?? message, exitCode: isNotWritable(code) ? exitCodes.unavailable : exitCodes.failed };
}

/** The `CliError` for a system error of a write; any other error unchanged. */
export function cannotWrite(path: string, error: unknown): unknown {
  const isOfSystem = Error.isError(error) && (error as NodeJS.ErrnoException).syscall !== undefined;
  if (!isOfSystem) return error;
  const { reason, exitCode } = writeFault(error);
  return new CliError(exitCode, `${path} cannot be written: ${reason}`, error);
}

function orCannotWrite<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

/** Path of the file to replace, with links resolved; null: it is not a regular file. */
function replaceable(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined) return found.isFile() ? realpathSync(path) : null;
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? replaceable(resolve(realpathSync(dirname(path)), readlinkSync(path))) : path;
}
