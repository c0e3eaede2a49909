/** `netfacts profiles`: what the operator says of ASes, over what the sources say. */

import { parseAsn } from "@netfacts/address";
import { type ProfileOverride, type ProfileRecord, searchProfiles } from "@netfacts/storage";
import { InvalidArgumentError } from "commander";
import { CliError } from "../cli-error.ts";
import { type CliContext, type RegisterCommand, sharedSettings } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { fieldLines, none, printJson, printLines, tableLines, timeText } from "../output.ts";
import { withProfiles, withStore } from "./control-store.ts";
import { parseCount } from "./keys/key-options.ts";

interface OverrideOptions {
  readonly name?: string;
  readonly organisation?: string;
  readonly website?: string;
  readonly networkType?: readonly string[];
}

interface ListOptions {
  readonly limit: number;
  readonly after?: number;
  readonly search?: string;
}

const limitDefault = 100;
const limitMax = 10_000;

export const profiles: RegisterCommand = (program, context) => {
  const group = program
    .command("profiles")
    .description("override names, organisations, websites and network types of ASes; ingest publishes a change within seconds");
  group
    .command("list")
    .description("list overrides, by AS number")
    .option("--limit <count>", "maximum number of overrides", parseLimit, limitDefault)
    .option("--after <asn>", "start behind this AS number", parseAsnArgument)
    .option("--search <text>", "only overrides that contain this text")
    .action(async (options: ListOptions, command) => {
      const found = await withStore({ command, context, create: false }, ({ profiles }) =>
        searchProfiles(profiles, { ...options, ...(options.search !== undefined && { text: options.search }) }),
      );
      if (sharedSettings(command).json) return printJson(context, { profiles: found.map(profileJson) });
      const table = () => tableLines(["AS", "OVERRIDE", "BY", "UPDATED"], found.map(row));
      printLines(context, found.length === 0 ? ["No overrides found."] : table());
    });
  group
    .command("show")
    .description("show the override of one AS")
    .argument("<asn>", "AS3333, 3333 or 1.10", parseAsnArgument)
    .action(async (asn: number, _options, command) => {
      const record = await withStore({ command, context, create: false }, (store) => store.profiles.get(asn));
      if (record === null) throw overrideNotFound(asn);
      printProfile(context, sharedSettings(command).json, record);
    });
  group
    .command("override")
    .description("replace the override of one AS; - says that there is none, and what is not given stays as the sources have it")
    .argument("<asn>", "AS3333, 3333 or 1.10", parseAsnArgument)
    .option("--name <text>", "name of the AS")
    .option("--organisation <text>", "organisation that runs it")
    .option("--website <url>", "http or https URL")
    .option("--network-type <word...>", "network types, the one that fits best first")
    .action(async (asn: number, options: OverrideOptions, command) => {
      const record = await withProfiles({ command, context, create: true }, (overrides, by) => overrides.put(by, asn, overrideOf(options)));
      printProfile(context, sharedSettings(command).json, record);
    });
  group
    .command("delete")
    .description("delete the override of one AS: what the sources say applies again")
    .argument("<asn>", "AS3333, 3333 or 1.10", parseAsnArgument)
    .action(async (asn: number, _options, command) => {
      const deleted = await withProfiles({ command, context, create: false }, (overrides, by) => overrides.delete(by, asn));
      if (!deleted) throw overrideNotFound(asn);
      if (sharedSettings(command).json) return printJson(context, { asn, deleted });
      printLines(context, [`The override of AS${asn} was deleted.`]);
    });
};

function overrideOf({ name, organisation, website, networkType }: OverrideOptions): ProfileOverride {
  const said = (text: string): string | null => (text === "-" ? null : text);
  const types = networkType?.length === 1 && networkType[0] === "-" ? null : networkType;
  return {
    ...(name !== undefined && { name: said(name) }),
    ...(organisation !== undefined && { organisation: said(organisation) }),
    ...(website !== undefined && { website: said(website) }),
    ...(types !== undefined && { network_types: types }),
  };
}

function parseAsnArgument(text: string): number {
  const asn = parseAsn(text);
  if (asn === null) throw new InvalidArgumentError("Expected an AS number, such as AS3333.");
  return asn;
}

function parseLimit(text: string): number {
  const limit = parseCount(text);
  if (limit < 1 || limit > limitMax) throw new InvalidArgumentError(`Expected a number from 1 to ${limitMax}.`);
  return limit;
}

function overrideNotFound(asn: number): CliError {
  return new CliError(exitCodes.notFound, `AS${asn} has no override; \`netfacts profiles list\` lists all overrides`);
}

/** For programs. */
function profileJson({ asn, profile, source, updatedAt }: ProfileRecord): Record<string, unknown> {
  return { asn, override: profile, by: source, updated_at: new Date(updatedAt).toISOString() };
}

function printProfile(context: CliContext, json: boolean, record: ProfileRecord): void {
  if (json) {
    printJson(context, profileJson(record));
    return;
  }
  const fields = Object.entries(record.profile).map(([name, value]): [string, string] => [name, shown(value)]);
  printLines(context, fieldLines([["asn", `AS${record.asn}`], ...fields, ["by", record.source], ["updated", timeText(record.updatedAt)]]));
}

function row({ asn, profile, source, updatedAt }: ProfileRecord): string[] {
  const said = Object.entries(profile).map(([name, value]) => `${name}: ${shown(value)}`);
  return [`AS${asn}`, said.join("; "), source, timeText(updatedAt)];
}

function shown(value: unknown): string {
  return value === null ? none : Array.isArray(value) ? value.join(" ") : String(value);
}
