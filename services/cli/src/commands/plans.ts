/** `netfacts plans`: named limits that keys refer to. */

import { defaultPlan, type KeyLimits, type PlanRecord, type RateLimit } from "@netfacts/keys";
import { CliError } from "../cli-error.ts";
import { type CliContext, type RegisterCommand, sharedSettings } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { fieldLines, none, printJson, printLines, tableLines, timeText } from "../output.ts";
import { withAdministration, withStore } from "./control-store.ts";
import { orWord, parseCount, parseRate } from "./keys/key-options.ts";

interface SetOptions {
  readonly rate: RateLimit;
  readonly month: number;
  readonly concurrency?: number | "none";
}

export const plans: RegisterCommand = (program, context) => {
  const group = program
    .command("plans")
    .description("manage plans: named limits that keys refer to; running services see a change within a second");
  group
    .command("list")
    .description("list all plans, by name")
    .action(async (_options, command) => {
      const found = await withStore({ command, context, create: false }, (store) => store.plans.list());
      if (sharedSettings(command).json) return printJson(context, { plans: found.map(planJson) });
      printLines(
        context,
        found.length === 0 ? ["No plans yet. Create one with: netfacts plans set NAME --rate 600 --month 100000"] : planTable(found),
      );
    });
  group
    .command("show")
    .description("show one plan")
    .argument("<name>", "plan name")
    .action(async (name: string, _options, command) => {
      const plan = await withStore({ command, context, create: false }, (store) => store.plans.find(name));
      if (plan === null) throw planNotFound(name);
      printPlan(context, sharedSettings(command).json, plan);
    });
  group
    .command("set")
    .description("create a plan or change its limits; the limits of its keys follow, and their usage is kept")
    .argument("<name>", "lower-case letters, digits, - and _; `default` applies to keys without another plan")
    .requiredOption("--rate <limit>", "rate limit: 600 (per minute) or 50/10s", parseRate)
    .requiredOption("--month <limit>", "monthly quota", parseCount)
    .option("--concurrency <limit>", "maximum number of concurrent requests, or none (default: none)", (text: string) =>
      orWord("none", text, parseCount),
    )
    .action(async (name: string, options: SetOptions, command) => {
      const plan = await withAdministration({ command, context, create: false }, (administration, by) =>
        administration.putPlan(by, name, limitsOf(options)),
      );
      printPlan(context, sharedSettings(command).json, plan);
    });
  group
    .command("delete")
    .description("delete a plan that no key refers to; `default` returns to the gateway's settings")
    .argument("<name>", "plan name")
    .action(async (name: string, _options, command) => {
      const outcome = await withAdministration({ command, context, create: false }, (administration, by) =>
        administration.deletePlan(by, name),
      );
      if (outcome === "absent") throw planNotFound(name);
      if (outcome === "in-use") throw new CliError(exitCodes.refused, `keys refer to plan ${name}: assign another plan to them first`);
      const deleted = outcome === "deleted";
      if (sharedSettings(command).json) return printJson(context, { name, deleted });
      const then = name === defaultPlan ? ": the limits of the gateway's settings apply" : "";
      printLines(context, [`Plan ${name} ${deleted ? "was deleted" : "did not exist"}${then}.`]);
    });
};

function limitsOf({ rate, month, concurrency = "none" }: SetOptions): KeyLimits {
  return { rate, month: { limit: month }, concurrency: concurrency === "none" ? null : { limit: concurrency } };
}

function planNotFound(name: string): CliError {
  if (name === defaultPlan)
    return new CliError(exitCodes.notFound, "the plan default is not set: its limits are those of the gateway's settings (DEFAULT_…)");
  return new CliError(exitCodes.notFound, `there is no plan ${JSON.stringify(name)}; \`netfacts plans list\` lists all plans`);
}

/** JSON for programs, with the names of the HTTP API. */
function planJson({ name, rate, month, concurrency, updatedAt }: PlanRecord): Record<string, unknown> {
  return {
    name,
    rate: { limit: rate.limit, window_seconds: rate.windowSeconds },
    month,
    concurrency,
    updated_at: new Date(updatedAt).toISOString(),
  };
}

function printPlan(context: CliContext, json: boolean, plan: PlanRecord): void {
  if (json) {
    printJson(context, planJson(plan));
    return;
  }
  const [name = "", rate = "", month = "", concurrency = "", updated = ""] = planRow(plan);
  printLines(
    context,
    fieldLines([
      ["name", name],
      ["rate", rate],
      ["month", month],
      ["concurrency", concurrency],
      ["updated", updated],
    ]),
  );
}

function planTable(found: readonly PlanRecord[]): string[] {
  return tableLines(["NAME", "RATE", "MONTH", "CONCURRENCY", "UPDATED"], found.map(planRow));
}

function planRow({ name, rate, month, concurrency, updatedAt }: PlanRecord): string[] {
  return [
    name,
    `${rate.limit}/${rate.windowSeconds}s`,
    `${month.limit}`,
    concurrency === null ? none : `${concurrency.limit}`,
    timeText(updatedAt),
  ];
}
