/** `netfacts mrt cat`: every record of MRT files as the lines of `bgpdump -m`, or decoded as JSON. */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  ContentError,
  LineBuffer,
  MrtError,
  type MrtRecord,
  openContent,
  readRecords,
  recordJson,
  unpackStream,
  writeBgpdumpLines,
} from "@netfacts/mrt";
import type { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { type CliContext, type RegisterCommand, sharedSettings } from "../../context.ts";
import { type ExitCode, exitCodes } from "../../exit-codes.ts";
import { printNote } from "../../output.ts";
import { Tally } from "./tally.ts";

const standardInput = "-";
/** Gathered before they are written at once. */
const pieceBytes = 1 << 18;

const help = `
FILE is plain, or packed with gzip, bzip2 or zstd, which is told by its content; - is standard input. Read are TABLE_DUMP, TABLE_DUMP_V2,
BGP4MP, BGP4MP_ET and the old BGP type; other records are passed over, and counted at the end.

A record that breaks its format goes to standard error, with its byte in the unpacked file and its own bytes; the others are printed. The exit
code is then 4, as it is for a file that ends inside a record: what was whole has been printed.`;

export const cat: RegisterCommand = (group, context) => {
  group
    .command("cat")
    .description("print every record as `bgpdump -m` would, one line a route; with --json the decoded record, one a line")
    .argument("<file...>", "MRT files; - is standard input")
    .addHelpText("after", help)
    .action(async (files: string[], _options: unknown, command: Command) => {
      const print = sharedSettings(command).json ? writeJson : writeBgpdumpLines;
      let ending: ExitCode = exitCodes.ok;
      for (const file of files) {
        const code = await catFile(file, print, context);
        if (ending === exitCodes.ok) ending = code;
      }
      if (ending !== exitCodes.ok) throw new CliError(ending, []);
    });
};

/** Writes one record; yields where `out` is large enough to be taken. */
type Print = (record: MrtRecord, out: LineBuffer) => Iterable<void>;

const writeJson: Print = (record, out) => {
  out.bytes(Buffer.from(`${JSON.stringify(recordJson(record))}\n`));
  return [];
};

async function catFile(file: string, print: Print, context: CliContext): Promise<ExitCode> {
  const name = file === standardInput ? "standard input" : file;
  const tally = new Tally(name, (line) => printNote(context, line));
  let failure: unknown = null;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const out = new LineBuffer();
    try {
      for await (const batch of readRecords(openInput(file, context), { name })) {
        for (const reading of batch) {
          if (!tally.count(reading)) continue;
          for (const _full of print(reading, out)) yield out.take();
          if (out.length >= pieceBytes) yield out.take();
        }
      }
    } catch (error) {
      failure = error;
    }
    if (out.length > 0) yield out.take();
  }
  try {
    await pipeline(Readable.from(pieces(), { highWaterMark: 1 }), context.stdout, { end: false });
  } catch (error) {
    if (isReaderGone(error)) return exitCodes.ok;
    throw error;
  }
  tally.tellUnread();
  if (failure !== null) return tellFailure(failure, context);
  return tally.bad > 0 ? exitCodes.untrusted : exitCodes.ok;
}

function openInput(file: string, { stdin }: CliContext): AsyncIterable<Uint8Array> {
  return file === standardInput ? unpackStream("standard input", stdin()) : openContent(file).stream;
}

/** A reader that has seen enough is no failure. */
function isReaderGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EPIPE" || code === "ERR_STREAM_PREMATURE_CLOSE";
}

/** Says what ended the reading of a file. @returns the exit code for it. */
function tellFailure(error: unknown, context: CliContext): ExitCode {
  if (!(error instanceof MrtError || error instanceof ContentError)) throw error;
  printNote(context, error.message);
  if (error.code !== "unreadable") return exitCodes.untrusted;
  return (error.cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT" ? exitCodes.notFound : exitCodes.unavailable;
}
