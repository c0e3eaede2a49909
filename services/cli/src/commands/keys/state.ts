/** `netfacts keys disable | enable | revoke`: changes whether a key works. */

import { CliError } from "../../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { printJson, printLines, printNote } from "../../output.ts";
import { withAdministration } from "../control-store.ts";
import { keyIdOf } from "./key-id.ts";
import { changedKey } from "./key-outcome.ts";
import { keyJson, stateAt } from "./key-view.ts";

interface StateChange {
  readonly name: "disable" | "enable" | "revoke";
  readonly description: string;
  readonly done: string;
  readonly forceable: boolean;
}

const changes: readonly StateChange[] = [
  {
    name: "disable",
    description: "disable a key until it is enabled again",
    done: "disabled",
    forceable: true,
  },
  { name: "enable", description: "enable a disabled key", done: "active", forceable: false },
  { name: "revoke", description: "revoke a key permanently", done: "revoked", forceable: true },
];

const expiredRemedy = "set another expiry with `netfacts keys update`, or use its successor if it was replaced";

export const stateCommands: RegisterCommand = (keys, context) => {
  for (const { name, description, done, forceable } of changes) {
    const command = keys.command(name).description(description).argument("<id>", "key id, as in `keys list`");
    if (forceable) command.option("--force", "even if it is the last active key with the scope admin", false);
    command.action(async (text: string, options: { readonly force?: boolean }) => {
      const id = keyIdOf(text);
      const outcome = await withAdministration({ command, context, create: false }, (administration, by) =>
        administration.setKeyState(by, id, name, options.force ?? false),
      );
      const key = changedKey(id, outcome);
      const isExpired = name === "enable" && stateAt(key, context.now()) === "expired";
      if (isExpired && outcome.outcome === "unchanged")
        throw new CliError(exitCodes.refused, `key ${id} (${key.label}) is expired: ${expiredRemedy}`);
      if (sharedSettings(command).json) return printJson(context, keyJson(key, context.now()));
      if (isExpired) printNote(context, `the key is expired: ${expiredRemedy}`);
      printLines(context, [
        outcome.outcome === "unchanged" ? `Key ${id} (${key.label}) was already ${done}.` : `Key ${id} (${key.label}) is now ${done}.`,
      ]);
    });
  }
};
