/** `netfacts keys update`: changes what a key may do, from where, how much and how long. */

import type { Scope } from "@netfacts/contracts";
import type { KeyPatch, RateLimit } from "@netfacts/keys";
import { CliError } from "../../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { printJson, printLines } from "../../output.ts";
import { withAdministration } from "../control-store.ts";
import { keyIdOf } from "./key-id.ts";
import { collect, nullFor, orWord, parseCount, parseExpiry, parseRate, parseScopes } from "./key-options.ts";
import { changedKey } from "./key-outcome.ts";
import { keyJson, keyLines } from "./key-view.ts";

interface UpdateOptions {
  readonly label?: string;
  readonly scopes?: readonly Scope[];
  readonly expires?: number | "never";
  readonly cidr?: readonly string[];
  readonly anywhere?: true;
  readonly plan?: string;
  readonly rate?: RateLimit | "plan";
  readonly month?: number | "plan";
  readonly concurrency?: number | "plan";
  readonly force: boolean;
}

export const updateCommand: RegisterCommand = (keys, context) => {
  keys
    .command("update")
    .description("change a key: only what is given; a limit of `plan` becomes that of its plan")
    .argument("<id>", "the key's id, as `keys list` shows it")
    .option("--label <text>", "what the key is for")
    .option("--scopes <list>", "what it may ask, separated by commas", parseScopes)
    .option("--expires <when>", "2027-01-31, 2027-01-31T12:00Z, 90d, 12h or never", (text: string) =>
      orWord("never", text, (when) => parseExpiry(when, context.now())),
    )
    .option("--cidr <cidr>", "where it may be used from; may be given more than once", collect)
    .option("--anywhere", "it may be used from anywhere")
    .option("--plan <name>", "the plan whose limits it has")
    .option("--rate <limit>", "requests per window: 600 (a minute), 50/10s or plan", (text: string) => orWord("plan", text, parseRate))
    .option("--month <limit>", "answers per calendar month, or plan", (text: string) => orWord("plan", text, parseCount))
    .option("--concurrency <limit>", "requests at a time, or plan", (text: string) => orWord("plan", text, parseCount))
    .option("--force", "even if no active key with the scope admin is left by it", false)
    .action(async (text: string, options: UpdateOptions, command) => {
      const id = keyIdOf(text);
      const patch = patchOf(options);
      if (Object.keys(patch).length === 0) throw new CliError(exitCodes.usage, "nothing to change was given; see --help");
      const outcome = await withAdministration({ command, context, create: false }, (administration, by) =>
        administration.updateKey(by, id, patch, options.force),
      );
      const key = changedKey(id, outcome);
      if (sharedSettings(command).json) return printJson(context, keyJson(key, context.now()));
      printLines(context, [...(outcome.outcome === "unchanged" ? ["It was so already.", ""] : []), ...keyLines(key, context.now())]);
    });
};

function patchOf({ label, scopes, expires, cidr, anywhere, plan, rate, month, concurrency }: UpdateOptions): KeyPatch {
  if (cidr !== undefined && anywhere) throw new CliError(exitCodes.usage, "--cidr and --anywhere exclude each other");
  return {
    ...(label !== undefined && { label }),
    ...(scopes !== undefined && { scopes }),
    ...(expires !== undefined && { expiresAt: nullFor("never", expires) }),
    ...(cidr !== undefined && { allowedCidrs: cidr }),
    ...(anywhere && { allowedCidrs: [] }),
    ...(plan !== undefined && { plan }),
    ...(rate !== undefined && { rate: nullFor("plan", rate) }),
    ...(month !== undefined && { month: limitOf(month) }),
    ...(concurrency !== undefined && { concurrency: limitOf(concurrency) }),
  };
}

function limitOf(limit: number | "plan"): { limit: number } | null {
  return limit === "plan" ? null : { limit };
}
