/** `netfacts keys show`: one key. */

import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { printJson, printLines } from "../../output.ts";
import { withStore } from "../control-store.ts";
import { keyIdOf, keyNotFound } from "./key-id.ts";
import { keyJson, keyLines } from "./key-view.ts";

export const showCommand: RegisterCommand = (keys, context) => {
  keys
    .command("show")
    .description("show one key, without its secret")
    .argument("<id>", "key id, as in `keys list`")
    .action(async (text: string, _options, command) => {
      const id = keyIdOf(text);
      const key = await withStore({ command, context, create: false }, (store) => store.keys.find(id));
      if (key === null) throw keyNotFound(id);
      if (sharedSettings(command).json) return printJson(context, keyJson(key, context.now()));
      printLines(context, keyLines(key, context.now()));
    });
};
