/** `netfacts export`: the facts about all addresses, as one file for other programs. */

import type { Generation } from "@netfacts/snapshot";
import type { Command } from "commander";
import type { RegisterCommand } from "../context.ts";
import { addressRows } from "../export/address-row.ts";
import { formats } from "../export/formats.ts";
import { loadNamed } from "../named-snapshot.ts";
import { writeWhole } from "../output-file.ts";
import { writeMany } from "../record-text.ts";
import { snapshotOption } from "../snapshot-option.ts";
import { natsOption } from "./snapshot/snapshots.ts";

interface Options {
  readonly output?: string;
  readonly databaseType: string;
}

const descriptions: Readonly<Record<keyof typeof formats, string>> = {
  mmdb: "a MaxMind DB file, for readers of GeoIP2 and GeoLite2 databases",
  csv: "a CSV file with a line for each range of addresses",
  ndjson: "an NDJSON file with a line for each range of addresses",
  parquet: "a Parquet file with a row for each range of addresses",
};

export const exportCommand: RegisterCommand = (program, context) => {
  const group = program.command("export").description("write what a snapshot knows about all addresses to a file");
  for (const [name, format] of Object.entries(formats) as [keyof typeof formats, (typeof formats)["csv"]][]) {
    const isText = name === "csv" || name === "ndjson";
    const command = group.command(name).description(descriptions[name]).addOption(snapshotOption()).addOption(natsOption());
    if (isText) command.option("-o, --output <file>", "file to write (default: standard output)");
    else command.requiredOption("-o, --output <file>", "file to write");
    if (name === "mmdb")
      command.option("--database-type <name>", "type that the file names, which some readers check, such as GeoLite2-ASN", "Netfacts");
    command.action(async ({ output, databaseType }: Options, command: Command) => {
      const generation = await loadNamed(command);
      const about = { snapshotId: generation.id, asOfMs: asOfMs(generation), databaseType };
      const pieces = format(addressRows(generation, context.now()), about);
      if (output === undefined) await writeMany(context.stdout, pieces as Iterable<string>);
      else await writeWhole(output, pieces);
    });
  }
};

function asOfMs({ manifest }: Generation): number {
  return Math.max(0, ...Object.values(manifest.sections).map(({ as_of }) => Date.parse(as_of)));
}
