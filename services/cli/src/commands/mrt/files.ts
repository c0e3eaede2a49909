/** Files of a command line: opens them with any compression, and reports those that cannot be read. */

import { ContentError, openContent, unpackStream } from "@netfacts/content";
import { MrtError } from "@netfacts/mrt";
import type { CliContext } from "../../context.ts";
import { type ExitCode, exitCodes } from "../../exit-codes.ts";
import { printNote } from "../../output.ts";

const standardInput = "-";
/** Bytes that are collected for one write. */
export const pieceBytes = 1 << 18;

/** Name of a file in messages. */
export function nameOf(file: string): string {
  return file === standardInput ? "standard input" : file;
}

/** Number of first bytes of a file that show what it is. */
const headBytes = 4_096;

/** First bytes of opened files, by their names in messages. */
export type Heads = Map<string, Buffer>;

/** Reads a file, decompressed. @param heads  gets the first bytes as they are read. */
export async function* openInput(file: string, { stdin }: CliContext, heads: Heads): AsyncGenerator<Uint8Array> {
  const name = nameOf(file);
  heads.set(name, Buffer.alloc(0));
  for await (const piece of file === standardInput ? unpackStream(name, stdin()) : openContent(file).stream) {
    const head = heads.get(name) as Buffer;
    // Copy the bytes, because the memory of a piece is reused.
    if (head.length < headBytes) heads.set(name, Buffer.concat([head, piece.subarray(0, headBytes - head.length)]));
    yield piece;
  }
}

/** Reports why a file could not be read, and its probable format if it is not MRT. @returns the exit code. */
export async function tellFailure(error: unknown, context: CliContext, heads: Heads): Promise<ExitCode> {
  if (!(error instanceof MrtError || error instanceof ContentError)) throw error;
  const head = error instanceof MrtError ? [...heads].find(([name]) => error.message.startsWith(`${name}: `))?.[1] : undefined;
  const likeness = head === undefined ? null : await (await import("@netfacts/ingest/app")).unlikeMrt(head);
  printNote(context, likeness === null ? error.message : `${error.message}; it looks like ${likeness}`);
  return inputExitCode(error);
}

/** The exit code for input that cannot be read: it is missing, unavailable or invalid. */
export function inputExitCode({ code, cause }: ContentError | MrtError): ExitCode {
  if (code !== "unreadable") return exitCodes.untrusted;
  return (cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT" ? exitCodes.notFound : exitCodes.unavailable;
}
