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

/** As many of the first bytes of a file tell what it is. */
const headBytes = 4_096;

/** The first bytes of files that were opened, by the names that messages have. */
export type Heads = Map<string, Buffer>;

/** Unpacked. @param heads  gets its first bytes as they are read. */
export async function* openInput(file: string, { stdin }: CliContext, heads: Heads): AsyncGenerator<Uint8Array> {
  const name = nameOf(file);
  heads.set(name, Buffer.alloc(0));
  for await (const piece of file === standardInput ? unpackStream(name, stdin()) : openContent(file).stream) {
    const head = heads.get(name) as Buffer;
    // A copy: the memory of a piece is used again.
    if (head.length < headBytes) heads.set(name, Buffer.concat([head, piece.subarray(0, headBytes - head.length)]));
    yield piece;
  }
}

/** Says what ended the reading of a file, and what it looks like where that is no MRT. @returns the exit code for it. */
export async function tellFailure(error: unknown, context: CliContext, heads: Heads): Promise<ExitCode> {
  if (!(error instanceof MrtError || error instanceof ContentError)) throw error;
  const head = error instanceof MrtError ? [...heads].find(([name]) => error.message.startsWith(`${name}: `))?.[1] : undefined;
  const likeness = head === undefined ? null : await (await import("@netfacts/ingest/app")).unlikeMrt(head);
  printNote(context, likeness === null ? error.message : `${error.message}; it looks like ${likeness}`);
  return inputExitCode(error);
}

/** The exit code of a command whose input cannot be read: missing, not to be had now, or no good. */
export function inputExitCode({ code, cause }: ContentError | MrtError): ExitCode {
  if (code !== "unreadable") return exitCodes.untrusted;
  return (cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT" ? exitCodes.notFound : exitCodes.unavailable;
}
