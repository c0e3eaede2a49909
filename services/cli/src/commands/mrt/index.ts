/** `netfacts mrt`: reads MRT files, without a snapshot. */

import type { RegisterCommand } from "../../context.ts";
import { cat } from "./cat.ts";
import { replay } from "./replay.ts";

export const mrt: RegisterCommand = (program, context) => {
  const group = program.command("mrt").description("inspect MRT files of routing tables and BGP messages");
  cat(group, context);
  replay(group, context);
};
