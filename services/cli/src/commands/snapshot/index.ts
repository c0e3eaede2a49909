/** `netfacts snapshot`: lists, verifies, compares and packs snapshots, and goes back to an earlier one. */

import type { RegisterCommand } from "../../context.ts";
import { diffCommand } from "./diff.ts";
import { lookCommands } from "./look.ts";
import { rollbackCommand } from "./rollback.ts";

export const snapshot: RegisterCommand = (program, context) => {
  const group = program.command("snapshot").description("list, verify, compare and pack snapshots, and roll back to an earlier one");
  for (const register of [lookCommands, diffCommand, rollbackCommand]) register(group, context);
};
