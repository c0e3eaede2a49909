/** Loads the snapshot that a command names, from a file, a data folder, or the store that services share. */

import { timestamp } from "@netfacts/contracts";
import { Generation, loadSnapshot, type Publication, pastManifest } from "@netfacts/snapshot";
import type { Command } from "commander";
import { CliError } from "./cli-error.ts";
import { withSnapshots } from "./commands/snapshot/snapshots.ts";
import { exitCodes } from "./exit-codes.ts";
import { refuse } from "./snapshot-option.ts";

/** Value of the option; undefined: the current snapshot of the place. */
function named(command: Command): string | undefined {
  return command.opts<{ snapshot?: string }>().snapshot;
}

/** Throws `CliError`. */
export function loadNamed(command: Command): Promise<Generation> {
  return withSnapshots(command, async ({ find }) => {
    const { store, manifest } = await find(named(command));
    return Generation.of(await loadSnapshot(store, manifest).catch(refuse));
  });
}

/** Loads the snapshot of a past time, as the API selects it. Throws `CliError`. */
export function loadPast(command: Command, atSeconds: number): Promise<{ generation: Generation; publication: Publication }> {
  return withSnapshots(command, async ({ storeOf }) => {
    const store = await storeOf(named(command));
    const publications = await store.publications().catch(refuse);
    const time = timestamp(atSeconds * 1_000);
    const publication = publications.findLast(({ at }) => at <= time);
    if (publication === undefined) {
      const [earliest, latest] = [publications[0]?.at, publications.at(-1)?.at];
      const kept =
        earliest === undefined
          ? "nothing says when it was published"
          : `the earliest was published at ${earliest}, the latest at ${latest}`;
      throw new CliError(exitCodes.notFound, `no snapshot of ${time} is kept: ${kept}`);
    }
    const manifest = pastManifest(await store.getManifest(publication.id).catch(refuse));
    return { generation: Generation.of(await loadSnapshot(store, manifest).catch(refuse)), publication };
  });
}
