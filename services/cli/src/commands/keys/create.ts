/** `netfacts keys create`: makes a key and shows it, this once. */

import type { Scope } from "@netfacts/contracts";
import { createKey, KeySpecError, type NewKey, type RateLimit, readScopes } from "@netfacts/storage";
import { CliError } from "../../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { printJson, printLines } from "../../output.ts";
import { collect, parseCount, parseExpiry, parseRate, parseScopes } from "./key-options.ts";
import { withStore } from "./key-store.ts";
import { keyJson, keyLines } from "./key-view.ts";

interface CreateOptions {
  readonly label: string;
  readonly scopes?: readonly Scope[];
  readonly expires?: number;
  readonly cidr?: readonly string[];
  readonly rate?: RateLimit;
  readonly month?: number;
  readonly test?: true;
}

export const createCommand: RegisterCommand = (keys, context) => {
  keys
    .command("create")
    .description("make a key and print it; it is stored nowhere and never shown again")
    .requiredOption("--label <text>", "what the key is for")
    .option("--scopes <list>", "what it may ask, separated by commas (default: everything but admin)", parseScopes)
    .option("--expires <when>", "2027-01-31, 2027-01-31T12:00Z, 90d or 12h (default: never)", (text: string) =>
      parseExpiry(text, context.now()),
    )
    .option("--cidr <cidr>", "where it may be used from; may be given more than once (default: anywhere)", collect)
    .option("--rate <limit>", "requests per window: 600 (a minute) or 50/10s (default: of the plan)", parseRate)
    .option("--month <limit>", "answers per calendar month (default: of the plan)", parseCount)
    .option("--test", "a test key: same data, its own marking and counting, never the scope admin")
    .action(async (options: CreateOptions, command) => {
      const created = await withStore({ command, context, create: true }, async (store, changed) => {
        const made = await createKey(store, newKey(options));
        changed(made.key);
        return made;
      }).catch((error: unknown) => {
        throw error instanceof KeySpecError ? new CliError(exitCodes.usage, error.faults, error) : error;
      });
      const { key, secret } = created;
      if (sharedSettings(command).json) return printJson(context, { ...keyJson(key, context.now()), secret });
      printLines(context, [...keyLines(key, context.now()), "", "The key, shown this once:", "", `  ${secret}`, ""]);
    });
};

function newKey({ label, scopes, expires, cidr, rate, month, test }: CreateOptions): NewKey {
  return {
    label,
    scopes: scopes ?? readScopes,
    environment: test === true ? "test" : "live",
    allowedCidrs: cidr ?? [],
    rate: rate ?? null,
    month: month === undefined ? null : { limit: month },
    expiresAt: expires ?? null,
  };
}
