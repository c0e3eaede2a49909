/** `netfacts keys create`: makes a key and shows it, this once. */

import type { Scope } from "@netfacts/contracts";
import { type NewKey, type RateLimit, readScopes } from "@netfacts/keys";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { withAdministration } from "../control-store.ts";
import { collect, parseCount, parseExpiry, parseRate, parseScopes } from "./key-options.ts";
import { printSecretKey } from "./key-view.ts";

interface CreateOptions {
  readonly label: string;
  readonly scopes?: readonly Scope[];
  readonly expires?: number;
  readonly cidr?: readonly string[];
  readonly plan?: string;
  readonly rate?: RateLimit;
  readonly month?: number;
  readonly concurrency?: number;
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
    .option("--plan <name>", "the plan whose limits it has (default: default)")
    .option("--rate <limit>", "requests per window: 600 (a minute) or 50/10s (default: of the plan)", parseRate)
    .option("--month <limit>", "answers per calendar month (default: of the plan)", parseCount)
    .option("--concurrency <limit>", "requests at a time (default: of the plan)", parseCount)
    .option("--test", "a test key: same data, its own marking and counting, never the scope admin")
    .action(async (options: CreateOptions, command) => {
      const { key, secret } = await withAdministration({ command, context, create: true }, (administration, by) =>
        administration.createKey(by, newKey(options)),
      );
      printSecretKey(context, sharedSettings(command), key, secret);
    });
};

function newKey({ label, scopes, expires, cidr, plan, rate, month, concurrency, test }: CreateOptions): NewKey {
  return {
    label,
    scopes: scopes ?? readScopes,
    environment: test === true ? "test" : "live",
    allowedCidrs: cidr ?? [],
    ...(plan !== undefined && { plan }),
    rate: rate ?? null,
    month: month === undefined ? null : { limit: month },
    concurrency: concurrency === undefined ? null : { limit: concurrency },
    expiresAt: expires ?? null,
  };
}
