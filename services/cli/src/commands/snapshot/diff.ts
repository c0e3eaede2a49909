/** `netfacts snapshot diff`: changes between two snapshots. */

import { type SectionName, type SectionPair, type SnapshotChange, sectionChanges, sectionNames, sectionPairs } from "@netfacts/snapshot";
import { type Command, Option } from "commander";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { none, printJson, printLines, tableLines } from "../../output.ts";
import { writeMany } from "../../record-text.ts";
import { findPrevious, load, natsOption, withSnapshots } from "./snapshots.ts";

interface DiffOptions {
  readonly section?: readonly SectionName[];
  readonly ndjson?: boolean;
}

type Counts = Record<SnapshotChange["change"], number>;

export const diffCommand: RegisterCommand = (group, context) => {
  group
    .command("diff")
    .description("count the changes between two snapshots by section; with --ndjson, print each change on its own line")
    .argument("[from]", "id of a kept snapshot, or a data folder, manifest or pack (default: the previous snapshot)")
    .argument("[to]", "same as FROM (default: the current snapshot)")
    .addOption(new Option("--section <name...>", "only these sections").choices(sectionNames))
    .addOption(natsOption())
    .option("--ndjson", "print every change: section, change, key of the row, its values before and after")
    .action(async (fromName: string | undefined, toName: string | undefined, options: DiffOptions, command: Command) => {
      const [from, to] = await withSnapshots(command, async (snapshots) => [
        await load(await snapshots.find(fromName ?? (await findPrevious(snapshots)))),
        await load(await snapshots.find(toName)),
      ]);
      const pairs = sectionPairs(from, to).filter(({ section }) => options.section?.includes(section) ?? true);
      const changes = ({ section }: SectionPair): Iterable<SnapshotChange> => sectionChanges(from, to, section);
      if (options.ndjson) return writeMany(context.stdout, changeLines(pairs, changes));
      const counted = pairs.map((pair) => ({ pair, counts: count(changes(pair)) }));
      if (sharedSettings(command).json)
        return printJson(context, {
          from: from.id,
          to: to.id,
          sections: Object.fromEntries(counted.map(({ pair, counts }) => [pair.section, { ...versions(pair), ...counts }])),
        });
      const rows = counted.map(({ pair, counts }) => [
        pair.section,
        pair.from?.version ?? none,
        pair.to?.version ?? none,
        ...[counts.added, counts.removed, counts.changed].map((number) => number.toLocaleString("en")),
        pair.same ? "same object" : "",
      ]);
      printLines(context, [`from ${from.id}`, `to   ${to.id}`, "", ...tableLines(titles, rows)]);
    });
};

const titles = ["SECTION", "FROM", "TO", "ADDED", "REMOVED", "CHANGED", ""];

function versions({ from, to, same }: SectionPair) {
  return { from: from?.version ?? null, to: to?.version ?? null, same_object: same };
}

function count(changes: Iterable<SnapshotChange>): Counts {
  const counts: Counts = { added: 0, removed: 0, changed: 0 };
  for (const { change } of changes) counts[change]++;
  return counts;
}

function* changeLines(pairs: readonly SectionPair[], changes: (pair: SectionPair) => Iterable<SnapshotChange>): Generator<string> {
  for (const pair of pairs)
    for (const { section, change, identity: row, from, to } of changes(pair))
      yield `${JSON.stringify({ section, change, row, from, to })}\n`;
}
