/** `netfacts snapshot rollback`: makes an earlier snapshot the current one. */

import { openSnapshot } from "@netfacts/dataset";
import type { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { type RegisterCommand, sharedSettings } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { printJson, printLines } from "../../output.ts";
import { refuse } from "../../snapshot-option.ts";
import { findPrevious, loadKept } from "./kept.ts";

export const rollbackCommand: RegisterCommand = (group, context) => {
  group
    .command("rollback")
    .description("make an earlier snapshot the current one, once it has been read whole; the next import publishes after it as usual")
    .argument("[id]", "one of those that `snapshot list` shows (default: the one before the current; so twice is as before)")
    .action(async (named: string | undefined, _options: unknown, command: Command) => {
      const { dataDir, json } = sharedSettings(command);
      const { store, manifest: current } = await openSnapshot(dataDir).catch(refuse);
      const id = named ?? (await findPrevious(dataDir));
      if (!(await store.list().catch(refuse)).includes(id))
        throw new CliError(exitCodes.notFound, `${dataDir}: keeps no snapshot ${id}; \`netfacts snapshot list\` shows those that it keeps`);
      if (id === current.id) throw new CliError(exitCodes.refused, `${id} is the current snapshot already; nothing was changed`);
      const { manifest } = await loadKept(dataDir, id);
      await store.publish(manifest, { replaces: current.id }).catch(refuse);
      if (json) printJson(context, { id, replaced: current.id });
      else printLines(context, [`${id} is current, in place of ${current.id}; running services load it within a second`]);
    });
};
