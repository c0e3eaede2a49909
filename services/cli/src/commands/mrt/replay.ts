/** `netfacts mrt replay`: applies updates to a RIB, and prints the table at their last second. */

import { timestamp } from "@netfacts/contracts";
import type { UpdateFileCounts } from "@netfacts/ingest/app";
import type { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { type CliContext, type RegisterCommand, sharedSettings } from "../../context.ts";
import { type ExitCode, exitCodes } from "../../exit-codes.ts";
import { printNote } from "../../output.ts";
import { writePieces } from "../../record-text.ts";
import { type Heads, nameOf, openInput, pieceBytes, tellFailure } from "./files.ts";
import { JsonTable, LineTable } from "./table-text.ts";
import { Tally } from "./tally.ts";

const help = `
The files are uncompressed, or compressed with gzip, bzip2 or zstd; - is standard input. RIB is a TABLE_DUMP_V2 or TABLE_DUMP file. UPDATES are files of
BGP4MP, BGP4MP_ET or the old BGP type, in the order of their times. Records older than the RIB are skipped. When a peer leaves the state Established, its
routes are removed.

Each line has the format of \`netfacts mrt cat\` for a RIB, with the time of the last record applied, in the order of RIB files. If there are no records for more
than five minutes before a file, a warning on standard error says that updates may be missing.

A malformed record is reported on standard error with its byte offset and its bytes; the other records are applied. So is one that can be read and counts as
malformed in an import, such as a route with AS 0 in its path, which is left out. The exit code is then 4. If a file ends inside a record or cannot be
decompressed, nothing is printed, because the resulting table would be unknown.`;

export const replay: RegisterCommand = (group, context) => {
  group
    .command("replay")
    .description("apply updates to a RIB and print the resulting table as `bgpdump -m` does; with --json one prefix per line")
    .argument("<rib>", "MRT file of the routing table; - is standard input")
    .argument("<updates...>", "MRT files of updates, in the order of their times")
    .addHelpText("after", help)
    .action(async (rib: string, updates: string[], _options: unknown, command: Command) => {
      const code = await replayFiles(rib, updates, sharedSettings(command).json, context);
      if (code !== exitCodes.ok) throw new CliError(code, []);
    });
};

async function replayFiles(rib: string, files: readonly string[], json: boolean, context: CliContext): Promise<ExitCode> {
  const note = (line: string) => printNote(context, line);
  const tallies = new Map([rib, ...files].map((file) => [nameOf(file), new Tally(nameOf(file), note)]));
  const heads: Heads = new Map();
  const open = (file: string) => ({ name: nameOf(file), chunks: openInput(file, context, heads) });
  function* inputs() {
    for (const file of files) yield open(file);
  }
  // Load this only here, because the other commands of the group do not need it.
  const { replayRoutes } = await import("@netfacts/ingest/app");
  const table = json ? new JsonTable() : new LineTable();
  let before: UpdateFileCounts | null = null;
  try {
    const { updates, emit } = await replayRoutes(open(rib), inputs(), table.encode, {
      onReading: ({ name }, reading) => void tallies.get(name)?.count(reading),
      onBad: (name, offset, detail) => tallies.get(name)?.tell(offset, detail),
      onFile(file) {
        if (file.from !== null && before?.from != null && file.from < before.from)
          note(`${file.name}: begins before ${before.name}, which was already applied`);
        if (file.table > 0) note(`${file.name}: nothing was applied: it is a routing table and has no updates`);
        before = file;
      },
    });
    for (const { from, to } of updates.gaps)
      note(`updates from ${timestamp(from * 1_000)} to ${timestamp(to * 1_000)} may be missing: there are no records in this time`);
    const pieces = async function* (): AsyncGenerator<Uint8Array> {
      for (const _ of emit(table)) if (table.out.length >= pieceBytes) yield table.out.take();
      table.end();
      if (table.out.length > 0) yield table.out.take();
    };
    await writePieces(context.stdout, pieces());
  } catch (error) {
    return tellFailure(error, context, heads);
  }
  let bad = 0;
  for (const tally of tallies.values()) {
    tally.tellUnread();
    bad += tally.bad;
  }
  return bad > 0 ? exitCodes.untrusted : exitCodes.ok;
}
