/** `netfacts keys create`: makes a key, which is shown only once. */

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
    .description("create a key and print it; the key is not stored and cannot be shown again")
    .requiredOption("--label <text>", "purpose of the key")
    .option("--scopes <list>", "scopes, separated by commas (default: all except admin)", parseScopes)
    .option(
      "--expires <when>",
      "expiry: 2027-01-31 (start of that day, UTC), 2027-01-31T12:00Z, 90d or 12h (default: never)",
      (text: string) => parseExpiry(text, context.now()),
    )
    .option("--cidr <cidr>", "network that the key may be used from; can be repeated (default: anywhere)", collect)
    .option("--plan <name>", "plan that sets the limits (default: default)")
    .option("--rate <limit>", "rate limit: 600 (per minute) or 50/10s (default: from the plan)", parseRate)
    .option("--month <limit>", "monthly quota (default: from the plan)", parseCount)
    .option("--concurrency <limit>", "maximum number of concurrent requests (default: from the plan)", parseCount)
    .option("--test", "create a test key: same data, separate usage counts, never the scope admin")
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
