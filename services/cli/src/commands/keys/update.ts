/** `netfacts keys update`: changes scopes, networks, limits and expiry of a key. */

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
    .description("change the given properties of a key; `plan` as a limit resets it to that of the plan")
    .argument("<id>", "key id, as in `keys list`")
    .option("--label <text>", "purpose of the key")
    .option("--scopes <list>", "scopes, separated by commas", parseScopes)
    .option("--expires <when>", "expiry: 2027-01-31 (start of that day, UTC), 2027-01-31T12:00Z, 90d, 12h or never", (text: string) =>
      orWord("never", text, (when) => parseExpiry(when, context.now())),
    )
    .option("--cidr <cidr>", "network that the key may be used from; can be repeated", collect)
    .option("--anywhere", "allow the key from anywhere")
    .option("--plan <name>", "plan that sets the limits")
    .option("--rate <limit>", "rate limit: 600 (per minute), 50/10s or plan", (text: string) => orWord("plan", text, parseRate))
    .option("--month <limit>", "monthly quota, or plan", (text: string) => orWord("plan", text, parseCount))
    .option("--concurrency <limit>", "maximum number of concurrent requests, or plan", (text: string) => orWord("plan", text, parseCount))
    .option(
      "--force",
      "even if no active key with the scope admin remains, or the last one gets an earlier expiry or fewer networks",
      false,
    )
    .action(async (text: string, options: UpdateOptions, command) => {
      const id = keyIdOf(text);
      const patch = patchOf(options);
      if (Object.keys(patch).length === 0) throw new CliError(exitCodes.usage, "no changes were given; see --help");
      const outcome = await withAdministration({ command, context, create: false }, (administration, by) =>
        administration.updateKey(by, id, patch, options.force),
      );
      const key = changedKey(id, outcome);
      if (sharedSettings(command).json) return printJson(context, keyJson(key, context.now()));
      printLines(context, [...(outcome.outcome === "unchanged" ? ["Nothing to change.", ""] : []), ...keyLines(key, context.now())]);
    });
};

function patchOf({ label, scopes, expires, cidr, anywhere, plan, rate, month, concurrency }: UpdateOptions): KeyPatch {
  if (cidr !== undefined && anywhere) throw new CliError(exitCodes.usage, "--cidr and --anywhere cannot be combined");
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
