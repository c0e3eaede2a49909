/** `netfacts keys list`: every key, oldest first. */

import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { printJson, printLines } from "../../output.ts";
import { withStore } from "../control-store.ts";
import { keyJson, keyTable } from "./key-view.ts";

export const listCommand: RegisterCommand = (keys, context) => {
  keys
    .command("list")
    .description("list all keys, oldest first")
    .action(async (_options, command) => {
      const records = await withStore({ command, context, create: false }, (store) => store.keys.list());
      const now = context.now();
      if (sharedSettings(command).json) return printJson(context, { keys: records.map((key) => keyJson(key, now)) });
      printLines(
        context,
        records.length === 0 ? ["No keys yet. Create one with: netfacts keys create --label NAME"] : keyTable(records, now),
      );
    });
};
