/** `netfacts keys`: make, see and end API keys. */

import type { RegisterCommand } from "../../context.ts";
import { createCommand } from "./create.ts";
import { listCommand } from "./list.ts";
import { showCommand } from "./show.ts";
import { stateCommands } from "./state.ts";

export const keys: RegisterCommand = (program, context) => {
  const group = program.command("keys").description("make, see and end API keys; running services see a change within a second");
  for (const register of [createCommand, listCommand, showCommand, stateCommands]) register(group, context);
};
