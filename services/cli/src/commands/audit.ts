/** `netfacts audit`: changes, each with its actor, time and address. */

import { auditActions } from "@netfacts/contracts";
import type { AuditEntry, AuditQuery } from "@netfacts/keys";
import { InvalidArgumentError, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { none, printJson, printLines, tableLines, timeText } from "../output.ts";
import { withStore } from "./control-store.ts";
import { parseCount, parseExpiry, parseSpan } from "./keys/key-options.ts";

interface AuditOptions {
  readonly limit: number;
  readonly since?: number;
  readonly until?: number;
  readonly actor?: string;
  readonly action?: string;
  readonly target?: string;
}

const limitDefault = 100;
const limitMax = 10_000;

export const audit: RegisterCommand = (program, context) => {
  const time = (text: string): number => (/^\d+[smhd]$/.test(text) ? context.now() - parseSpan(text) : parseExpiry(text, context.now()));
  program
    .command("audit")
    .description("list changes to keys, plans and profiles, runs, rollbacks and deletions, with actor, time and origin; newest first")
    .option("--limit <count>", "maximum number of entries", parseLimit, limitDefault)
    .option("--since <when>", "start time: 2026-11-01 (start of that day, UTC), 2026-11-01T12:00Z, or 7d for the last 7 days", time)
    .option("--until <when>", "end time (exclusive), in the same forms", time)
    .option("--actor <who>", "key:7Q9M3W8K, cli:root, bootstrap, schedule or start")
    .addOption(new Option("--action <what>", "only this action").choices(auditActions))
    .option("--target <id>", "key id, plan name, AS, source, address, prefix, run or snapshot")
    .action(async (options: AuditOptions, command) => {
      if ((options.since ?? 0) > (options.until ?? Infinity)) throw new CliError(exitCodes.usage, "--since is after --until");
      const entries = await withStore({ command, context, create: false }, (store) => store.audit.list(queryOf(options)));
      if (sharedSettings(command).json) return printJson(context, { entries: entries.map(entryJson) });
      printLines(
        context,
        entries.length === 0 ? ["No changes found."] : tableLines(["AT", "WHO", "FROM", "WHAT", "ON", "DETAILS"], entries.map(row)),
      );
    });
};

function parseLimit(text: string): number {
  const limit = parseCount(text);
  if (limit < 1 || limit > limitMax) throw new InvalidArgumentError(`Expected a number from 1 to ${limitMax}.`);
  return limit;
}

function queryOf({ limit, since, until, actor, action, target }: AuditOptions): AuditQuery {
  return {
    limit,
    ...(since !== undefined && { from: since }),
    ...(until !== undefined && { to: until }),
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(target !== undefined && { target }),
  };
}

/** JSON for programs, with the names of the HTTP API. */
function entryJson({ id, at, actor, action, target, address, keyId, details }: AuditEntry): Record<string, unknown> {
  return { id, at: new Date(at).toISOString(), actor, action, target, address, key_id: keyId, details };
}

function row({ at, actor, action, target, address, details }: AuditEntry): string[] {
  return [timeText(at), actor, address ?? none, action, target ?? none, JSON.stringify(details)];
}
