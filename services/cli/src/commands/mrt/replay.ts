/** `netfacts mrt replay`: a RIB with the updates behind it, as the table at their last second. */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { timestamp } from "@netfacts/contracts";
import type { UpdateFileCounts } from "@netfacts/ingest/app";
import type { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { type CliContext, type RegisterCommand, sharedSettings } from "../../context.ts";
import { type ExitCode, exitCodes } from "../../exit-codes.ts";
import { printNote } from "../../output.ts";
import { isReaderGone, nameOf, openInput, pieceBytes, tellFailure } from "./files.ts";
import { JsonTable, LineTable } from "./table-text.ts";
import { Tally } from "./tally.ts";

const help = `
The files are plain, or packed with gzip, bzip2 or zstd; - is standard input. RIB is a TABLE_DUMP_V2 or TABLE_DUMP file; UPDATES are files of BGP4MP,
BGP4MP_ET or the old BGP type, in the order of their times. Records older than the RIB are passed over. A peer that leaves Established takes its
routes with it.

Each line is as \`netfacts mrt cat\` prints one of a RIB, with the time of the last record applied, in the order of RIB files. Silence of more than five minutes in
front of a file is told on standard error: updates may be missing.

A record that breaks its format goes to standard error, with its byte and its own bytes; the others count. The exit code is then 4. A file that ends
inside a record, or cannot be unpacked, prints nothing: the table after it would not be known.`;

export const replay: RegisterCommand = (group, context) => {
  group
    .command("replay")
    .description("print the table that a RIB has become by its updates, as `bgpdump -m` would print it; with --json one prefix a line")
    .argument("<rib>", "MRT file of the table; - is standard input")
    .argument("<updates...>", "MRT files of the updates, in the order of their times")
    .addHelpText("after", help)
    .action(async (rib: string, updates: string[], _options: unknown, command: Command) => {
      const code = await replayFiles(rib, updates, sharedSettings(command).json, context);
      if (code !== exitCodes.ok) throw new CliError(code, []);
    });
};

async function replayFiles(rib: string, files: readonly string[], json: boolean, context: CliContext): Promise<ExitCode> {
  const note = (line: string) => printNote(context, line);
  const tallies = new Map([rib, ...files].map((file) => [nameOf(file), new Tally(nameOf(file), note)]));
  const open = (file: string) => ({ name: nameOf(file), chunks: openInput(file, context) });
  function* inputs() {
    for (const file of files) yield open(file);
  }
  // What it takes is not loaded for the other commands of the group.
  const { replayRoutes } = await import("@netfacts/ingest/app");
  const table = json ? new JsonTable() : new LineTable();
  let before: UpdateFileCounts | null = null;
  try {
    const { updates, emit } = await replayRoutes(open(rib), inputs(), table.encode, {
      onReading: ({ name }, reading) => void tallies.get(name)?.count(reading),
      onFile(file) {
        if (file.from !== null && before?.from != null && file.from < before.from)
          note(`${file.name}: begins before ${before.name}, which was applied before it`);
        before = file;
      },
    });
    for (const { from, to } of updates.gaps)
      note(`updates from ${timestamp(from * 1_000)} to ${timestamp(to * 1_000)} may be missing: nothing was heard`);
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      for (const _ of emit(table)) if (table.out.length >= pieceBytes) yield table.out.take();
      table.end();
      if (table.out.length > 0) yield table.out.take();
    };
    await pipeline(Readable.from(pieces(), { highWaterMark: 1 }), context.stdout, { end: false });
  } catch (error) {
    return isReaderGone(error) ? exitCodes.ok : tellFailure(error, context);
  }
  let bad = 0;
  for (const tally of tallies.values()) {
    tally.tellUnread();
    bad += tally.bad;
  }
  return bad > 0 ? exitCodes.untrusted : exitCodes.ok;
}
