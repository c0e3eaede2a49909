/** Files of a command line: opened whatever their compression, and what is said when one cannot be read. */

import { ContentError, openContent, unpackStream } from "@netfacts/content";
import { MrtError } from "@netfacts/mrt";
import type { CliContext } from "../../context.ts";
import { type ExitCode, exitCodes } from "../../exit-codes.ts";
import { printNote } from "../../output.ts";

const standardInput = "-";
/** Gathered before it is written at once. */
export const pieceBytes = 1 << 18;

/** What messages call a file. */
export function nameOf(file: string): string {
  return file === standardInput ? "standard input" : file;
}

/** Unpacked. */
export function openInput(file: string, { stdin }: CliContext): AsyncIterable<Uint8Array> {
  return file === standardInput ? unpackStream(nameOf(file), stdin()) : openContent(file).stream;
}

/** A reader that has seen enough is no failure. */
export function isReaderGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EPIPE" || code === "ERR_STREAM_PREMATURE_CLOSE";
}

/** Says what ended the reading of a file. @returns the exit code for it. */
export function tellFailure(error: unknown, context: CliContext): ExitCode {
  if (!(error instanceof MrtError || error instanceof ContentError)) throw error;
  printNote(context, error.message);
  if (error.code !== "unreadable") return exitCodes.untrusted;
  return (error.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT" ? exitCodes.notFound : exitCodes.unavailable;
}
