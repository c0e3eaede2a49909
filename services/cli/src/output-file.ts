/** Files that commands write. */

import { createWriteStream, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isDiskFull, isNotWritable } from "@netfacts/storage";
import { CliError } from "./cli-error.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { interruptible } from "./interrupt.ts";
import { isReaderGone } from "./record-text.ts";

/**
 * Writes a file as a whole: until it is complete and on the disk, and after a fault or a signal, an earlier file of this name stays. A link stays, and
 * the file that it leads to is replaced. A pipe or a device gets the pieces as they come, and its reader may leave early.
 *
 * @throws CliError
 */
export async function writeWhole(path: string, pieces: Iterable<Uint8Array | string>): Promise<void> {
  await interruptible(async (signal) => {
    const file = orCannotWrite(path, () => replaceable(path));
    const written = file === null ? path : `${file}.${process.pid}.partial`;
    try {
      await pipeline(Readable.from(pieces), createWriteStream(written, { flush: file !== null }), { signal });
      if (file !== null) await rename(written, file);
    } catch (error) {
      if (file === null && isReaderGone(error)) return;
      if (file !== null) await rm(written, { force: true });
      throw cannotWrite(path, error);
    }
  });
}

/** @throws CliError if anything has this name, also a link that leads nowhere. */
export function refuseExisting(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined)
    throw new CliError(exitCodes.refused, `${path} already exists: choose another path, or remove it first`);
}

/** What a fault of the system at writing is called, and its exit code. */
export function writeFault({ code = "", message }: NodeJS.ErrnoException): { readonly reason: string; readonly exitCode: ExitCode } {
  if (isDiskFull(code)) return { reason: "the disk is full", exitCode: exitCodes.unavailable };
  return { reason: message, exitCode: isNotWritable(code) ? exitCodes.unavailable : exitCodes.failed };
}

/** The end of a command by a fault of the system at writing; every other error as it is. */
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

/** The file that a complete one takes the place of, links followed; null: something that is no regular file. */
function replaceable(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined) return found.isFile() ? realpathSync(path) : null;
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink ? replaceable(resolve(realpathSync(dirname(path)), readlinkSync(path))) : path;
}
