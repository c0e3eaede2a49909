/** `netfacts profiles`: profiles of ASes by sources and operators. */

import {
  type MergedField,
  type MergedProfile,
  mergedProfile,
  type ProfileField,
  type ProfileOverride,
  profileFields,
  type SaidValue,
  type Store,
  searchMerged,
} from "@netfacts/storage";
import { InvalidArgumentError, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type CliContext, type RegisterCommand, sharedSettings } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { fieldLines, none, printJson, printLines, tableLines, timeText } from "../output.ts";
import { asnArgument } from "../subject-arguments.ts";
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
  readonly source?: string;
  readonly field?: ProfileField;
}

const limitDefault = 100;
const limitMax = 10_000;

export const profiles: RegisterCommand = (program, context) => {
  const group = program
    .command("profiles")
    .description(
      "show what sources and operators say of ASes, and override names, organisations, websites and network types; ingest publishes a change within seconds",
    );
  group
    .command("list")
    .description("list profiles, by AS number, with the source of each field")
    .option("--limit <count>", "maximum number of profiles", parseLimit, limitDefault)
    .option("--after <asn>", "start behind this AS number", asnArgument)
    .option("--search <text>", "only profiles that contain this text")
    .option("--source <name>", "only profiles that this source says something of; `override`: only those that are overridden")
    .addOption(new Option("--field <name>", "only profiles that have this field").choices(profileFields))
    .action(async (options: ListOptions, command) => {
      const found = await withStore({ command, context, create: false }, (store) => listed(store, options));
      if (sharedSettings(command).json) return printJson(context, { profiles: found.map(profileJson) });
      const table = () => tableLines(["AS", "FIELD", "VALUE", "SOURCE", "AS OF"], found.flatMap(rows));
      printLines(context, found.length === 0 ? ["No profiles found."] : table());
    });
  group
    .command("show")
    .description("show the profile of one AS: each field, its source, and what other sources say")
    .argument("<asn>", "AS3333, 3333 or 1.10", asnArgument)
    .action(async (asn: number, _options, command) => {
      const record = await withStore({ command, context, create: false }, (store) => mergedProfile(store, asn));
      if (record === null) throw new CliError(exitCodes.notFound, `no source and no override describes AS${asn}`);
      printProfile(context, sharedSettings(command).json, record);
    });
  group
    .command("override")
    .description(
      "replace the override of one AS; a value of - means that there is none, and fields that are not given stay as the sources have them",
    )
    .argument("<asn>", "AS3333, 3333 or 1.10", asnArgument)
    .option("--name <text>", "name of the AS")
    .option("--organisation <text>", "organisation that runs it")
    .option("--website <url>", "http or https URL")
    .option("--network-type <word...>", "network types, the one that fits best first")
    .action(async (asn: number, options: OverrideOptions, command) => {
      const use = { command, context, create: false };
      await withProfiles(use, (overrides, by) => overrides.put(by, asn, overrideOf(options)));
      const record = await withStore(use, (store) => mergedProfile(store, asn));
      if (record === null) throw overrideNotFound(asn);
      printProfile(context, sharedSettings(command).json, record);
    });
  group
    .command("delete")
    .description("delete the override of one AS: what the sources say applies again")
    .argument("<asn>", "AS3333, 3333 or 1.10", asnArgument)
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

function parseLimit(text: string): number {
  const limit = parseCount(text);
  if (limit < 1 || limit > limitMax) throw new InvalidArgumentError(`Expected a number from 1 to ${limitMax}.`);
  return limit;
}

function overrideNotFound(asn: number): CliError {
  return new CliError(exitCodes.notFound, `AS${asn} has no override; \`netfacts profiles list --source override\` lists all overrides`);
}

async function listed(store: Store, { limit, search, ...options }: ListOptions): Promise<MergedProfile[]> {
  const found: MergedProfile[] = [];
  for (let after = options.after; ; ) {
    const { profiles, next } = await searchMerged(store, {
      ...options,
      limit: limit - found.length,
      ...(after !== undefined && { after }),
      ...(search !== undefined && { text: search }),
    });
    found.push(...profiles);
    if (next === null || found.length >= limit) return found;
    after = next;
  }
}

/** JSON for programs. */
function profileJson({ asn, fields, override }: MergedProfile): Record<string, unknown> {
  const said = ({ value, source, asOf }: SaidValue) => ({ value, source, as_of: asOf });
  return {
    asn,
    fields: fields.map((each) => ({ field: each.field, ...said(each), others: each.others.map(said) })),
    override: override?.profile ?? null,
    by: override?.source ?? null,
    updated_at: override === null ? null : new Date(override.updatedAt).toISOString(),
  };
}

function printProfile(context: CliContext, json: boolean, profile: MergedProfile): void {
  if (json) {
    printJson(context, profileJson(profile));
    return;
  }
  const { asn, fields, override } = profile;
  const changed: [string, string][] =
    override === null
      ? []
      : [
          ["by", override.source],
          ["updated", timeText(override.updatedAt)],
        ];
  const lines = fields.flatMap((each): string[][] => [saidRow(each.field, each), ...each.others.map((other) => saidRow("", other))]);
  printLines(context, [...fieldLines([["asn", `AS${asn}`], ...changed]), "", ...tableLines(["FIELD", "VALUE", "SOURCE", "AS OF"], lines)]);
}

function saidRow(field: string, { value, source, asOf }: SaidValue): string[] {
  return [field, value ?? none, source, asOf === null ? none : timeText(Date.parse(asOf))];
}

function rows({ asn, fields }: MergedProfile): string[][] {
  return fields.map((each: MergedField, at) => [at === 0 ? `AS${asn}` : "", ...saidRow(each.field, each)]);
}
