/** `netfacts keys disable | enable | revoke`: changes whether a key works. */

import { disableKey, enableKey, type KeyStateOutcome, revokeKey, type Store } from "@netfacts/storage";
import { CliError } from "../../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { printJson, printLines } from "../../output.ts";
import { keyIdOf, keyNotFound, withStore } from "./key-store.ts";
import { keyJson } from "./key-view.ts";

interface StateChange {
  readonly name: string;
  readonly description: string;
  readonly done: string;
  readonly forceable: boolean;
  readonly change: (store: Store, id: string, options: { force: boolean }) => Promise<KeyStateOutcome>;
}

const changes: readonly StateChange[] = [
  {
    name: "disable",
    description: "make a key stop working until it is enabled again",
    done: "disabled",
    forceable: true,
    change: disableKey,
  },
  { name: "enable", description: "make a disabled key work again", done: "active", forceable: false, change: enableKey },
  { name: "revoke", description: "end a key for ever", done: "revoked", forceable: true, change: revokeKey },
];

export const stateCommands: RegisterCommand = (keys, context) => {
  for (const { name, description, done, forceable, change } of changes) {
    const command = keys.command(name).description(description).argument("<id>", "the key's id, as `keys list` shows it");
    if (forceable) command.option("--force", "even if it is the last active key with the scope admin", false);
    command.action(async (text: string, options: { readonly force?: boolean }) => {
      const id = keyIdOf(text);
      const outcome = await withStore({ command, context, create: false }, async (store, changed) => {
        const result = await change(store, id, { force: options.force ?? false });
        if (result.outcome === "changed") changed(result.key);
        return result;
      });
      const key = changedKey(id, outcome);
      if (sharedSettings(command).json) return printJson(context, keyJson(key, context.now()));
      printLines(context, [
        outcome.outcome === "unchanged" ? `Key ${id} (${key.label}) was ${done} already.` : `Key ${id} (${key.label}) is now ${done}.`,
      ]);
    });
  }
};

function changedKey(id: string, outcome: KeyStateOutcome): Extract<KeyStateOutcome, { outcome: "changed" | "unchanged" }>["key"] {
  switch (outcome.outcome) {
    case "changed":
    case "unchanged":
      return outcome.key;
    case "absent":
      throw keyNotFound(id);
    case "revoked":
      throw new CliError(exitCodes.refused, `key ${id} is revoked, and revoked is final: make a new one with \`netfacts keys create\``);
    case "last-admin":
      throw new CliError(exitCodes.refused, `key ${id} is the last active key with the scope admin: make another first, or give --force`);
  }
}
