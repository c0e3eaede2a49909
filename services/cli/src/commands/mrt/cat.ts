/** `netfacts mrt cat`: every record of MRT files as the lines of `bgpdump -m`, or decoded as JSON. */

import { LineBuffer, type MrtRecord, readRecords, recordJson, writeBgpdumpLines } from "@netfacts/mrt";
import type { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { type CliContext, type RegisterCommand, sharedSettings } from "../../context.ts";
import { type ExitCode, exitCodes } from "../../exit-codes.ts";
import { printNote } from "../../output.ts";
import { writePieces } from "../../record-text.ts";
import { type Heads, nameOf, openInput, pieceBytes, tellFailure } from "./files.ts";
import { Tally } from "./tally.ts";

const help = `
FILE is uncompressed, or compressed with gzip, bzip2 or zstd (detected from its content); - is standard input. TABLE_DUMP, TABLE_DUMP_V2,
BGP4MP, BGP4MP_ET and the old BGP type are supported. Other records are skipped and counted at the end.

A malformed record is reported on standard error with its byte offset in the uncompressed file and its bytes; the other records are
printed. The exit code is then 4. It is also 4 if the file ends inside a record; all complete records have been printed.`;

export const cat: RegisterCommand = (group, context) => {
  group
    .command("cat")
    .description("print every record as `bgpdump -m` does, one route per line; with --json one decoded record per line")
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

/** Writes one record. Yields when `out` is long enough to be written. */
type Print = (record: MrtRecord, out: LineBuffer) => Iterable<void>;

const writeJson: Print = (record, out) => {
  out.bytes(Buffer.from(`${JSON.stringify(recordJson(record))}\n`));
  return [];
};

async function catFile(file: string, print: Print, context: CliContext): Promise<ExitCode> {
  const name = nameOf(file);
  const tally = new Tally(name, (line) => printNote(context, line));
  const heads: Heads = new Map();
  let failure: unknown = null;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    const out = new LineBuffer();
    try {
      for await (const batch of readRecords(openInput(file, context, heads), { name })) {
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
  if (await writePieces(context.stdout, pieces())) tally.tellUnread();
  if (failure !== null) return tellFailure(failure, context, heads);
  return tally.bad > 0 ? exitCodes.untrusted : exitCodes.ok;
}
