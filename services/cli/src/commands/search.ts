/** `netfacts search`: matches of a text, as a table. `netfacts lookup search` prints the record. */

import { type AnswerNotes, finish, searchSteps } from "@netfacts/records";
import type { Command } from "commander";
import { type RegisterCommand, sharedSettings } from "../context.ts";
import { none, printJson, printLines, tableLines } from "../output.ts";
import { asOfOption, snapshotOption } from "../snapshot-option.ts";
import { limitOption, notesOf, textArgument } from "./lookup.ts";
import { natsOption } from "./snapshot/snapshots.ts";

const titles = ["TYPE", "MATCH", "TITLE", "SUBTITLE"];

export const search: RegisterCommand = (program, context) => {
  program
    .command("search")
    .description("find addresses, prefixes, ASes, organisations and countries in a snapshot")
    .argument("<text>", "what to search for", textArgument)
    .addOption(limitOption())
    .addOption(snapshotOption())
    .addOption(natsOption())
    .addOption(asOfOption())
    .action(async (q: string, { limit }: { limit: number }, command: Command) => {
      const notes: AnswerNotes = await notesOf(command, context.now());
      const { query, results } = finish(searchSteps({ q, limit }, notes));
      if (sharedSettings(command).json) return printJson(context, { query, results, meta: notes.meta("search") });
      const rows = results.items.map(({ type, match, title, subtitle }) => [type, match, title, subtitle ?? none]);
      const more = results.total - rows.length;
      printLines(context, [
        ...(rows.length === 0 ? [`nothing fits ${JSON.stringify(query)}`] : tableLines(titles, rows)),
        ...(more > 0 ? ["", `and ${more} more`] : []),
      ]);
    });
};
