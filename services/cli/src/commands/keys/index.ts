/** `netfacts keys`: make, see, change, replace and end API keys. */

import type { RegisterCommand } from "../../context.ts";
import { createCommand } from "./create.ts";
import { listCommand } from "./list.ts";
import { rotateCommand } from "./rotate.ts";
import { showCommand } from "./show.ts";
import { stateCommands } from "./state.ts";
import { updateCommand } from "./update.ts";

export const keys: RegisterCommand = (program, context) => {
  const group = program
    .command("keys")
    .description("create, show, change, rotate and revoke API keys; running services see a change within a second");
  for (const register of [createCommand, listCommand, showCommand, updateCommand, rotateCommand, stateCommands]) register(group, context);
};
