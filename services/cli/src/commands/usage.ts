/** `netfacts usage`: the usage of keys. */

import { type UsageClass, usageClasses } from "@netfacts/contracts";
import {
  daysOf,
  type UsageDimension,
  type UsageGroup,
  type UsageQuery,
  usageColumns,
  usageDimensions,
  usageGroups,
  usageItem,
} from "@netfacts/storage";
import { InvalidArgumentError, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { printJson, printLines, tableLines } from "../output.ts";
import { withStore } from "./control-store.ts";
import { keyIdOf } from "./keys/key-id.ts";
import { isCalendarDay } from "./keys/key-options.ts";

interface UsageOptions {
  readonly month?: string;
  readonly from?: string;
  readonly to?: string;
  readonly key?: string;
  readonly bucket?: string;
  readonly kind?: UsageClass;
  readonly by: readonly UsageDimension[];
  readonly csv?: true;
}

/** What rows may be grouped by. The kind of request is `route_class` in the API, in JSON and in CSV; it is taken under that name, too. */
const groupings = usageDimensions.map((name) => (name === "route_class" ? "kind" : name)).join(", ");

/** Lines that are printed together. */
const linesMax = 1_000;

export const usage: RegisterCommand = (program, context) => {
  program
    .command("usage")
    .description("show usage by key, day or month, and kind of request (default: this month)")
    .option("--month <month>", "calendar month: 2026-11", parseMonth)
    .option("--from <day>", "first day, UTC: 2026-11-01; requires --to", parseDay)
    .option("--to <day>", "last day; requires --from", parseDay)
    .option("--key <id>", "only this key", keyIdOf)
    .option("--bucket <id>", "only keys that share limits by rotation: the id of the first of them", keyIdOf)
    .addOption(new Option("--kind <kind>", "only this kind").choices(usageClasses))
    .addOption(
      new Option("--by <what>", `group rows by any of ${groupings}, separated by commas; the others are summed`)
        .argParser(parseBy)
        .default(["key", "month"], "key,month"),
    )
    .option("--csv", "print CSV with a header line")
    .action(async (options: UsageOptions, command) => {
      const isJson = sharedSettings(command).json;
      if (isJson && options.csv === true) throw new CliError(exitCodes.usage, "--csv cannot be combined with --json");
      const query = queryOf(options, context.now());
      const columns = usageColumns(options.by);
      await withStore({ command, context, create: false }, async (store) => {
        if (options.csv === true) {
          const lines = [columns.join()];
          for await (const group of usageGroups(store.usage, query, options.by)) {
            lines.push(cells(group).join());
            if (lines.length >= linesMax) printLines(context, lines.splice(0));
          }
          printLines(context, lines);
          return;
        }
        const groups: UsageGroup[] = [];
        for await (const group of usageGroups(store.usage, query, options.by)) groups.push(group);
        const total = await store.usage.total(query);
        if (isJson) {
          return printJson(context, { from: query.from, to: query.to, total, items: groups.map(usageItem) });
        }
        if (groups.length === 0) return printLines(context, [`No usage from ${query.from} to ${query.to}.`]);
        printLines(context, tableLines(columns.map(titleOf), groups.map(cells)));
        printLines(context, ["", `${total.counted} counted, ${total.uncounted} uncounted from ${query.from} to ${query.to}`]);
      });
    });
};

function cells(group: UsageGroup): string[] {
  return Object.values(usageItem(group)).map(String);
}

function titleOf(column: string): string {
  return column.replace("route_class", "kind").replace("_", " ").toUpperCase();
}

function queryOf({ month, from, to, key, bucket, kind }: UsageOptions, now: number): UsageQuery {
  const whose = {
    ...(key !== undefined && { keyId: key }),
    ...(bucket !== undefined && { bucket }),
    ...(kind !== undefined && { routeClass: kind }),
  };
  if (from === undefined && to === undefined) {
    return { ...daysOf(month ?? new Date(now).toISOString().slice(0, 7)), ...whose };
  }
  if (month !== undefined) throw new CliError(exitCodes.usage, "--month cannot be combined with --from and --to");
  if (from === undefined || to === undefined) throw new CliError(exitCodes.usage, "--from and --to must be used together");
  if (from > to) throw new CliError(exitCodes.usage, "--from is after --to");
  return { from, to, ...whose };
}

function parseMonth(text: string): string {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError("Expected a month such as 2026-11.");
  return text;
}

function parseDay(text: string): string {
  if (!isCalendarDay(text)) throw new InvalidArgumentError("Expected a date such as 2026-11-21.");
  return text;
}

function parseBy(text: string): readonly UsageDimension[] {
  const names = text.split(",").map((name) => (name === "kind" ? "route_class" : name));
  const by = usageDimensions.filter((name) => names.includes(name));
  if (by.length !== names.length || (by.includes("day") && by.includes("month"))) {
    throw new InvalidArgumentError(`Expected any of ${groupings}, separated by commas, each at most once; either day or month.`);
  }
  return by;
}
