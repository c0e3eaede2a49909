/** Snapshots of a data folder by their ids. */

import { Generation, loadSnapshot, openSnapshot } from "@netfacts/dataset";
import { CliError } from "../../cli-error.ts";
import { exitCodes } from "../../exit-codes.ts";
import { refuse } from "../../snapshot-option.ts";

const idPattern = /^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$/;

/** Loads a snapshot. `name`: id of one that the data folder keeps, or what `--snapshot` takes; left out: the current one. Throws `CliError`. */
export async function loadKept(dataDir: string, name: string = dataDir): Promise<Generation> {
  const { store, manifest } = await openSnapshot(idPattern.test(name) ? dataDir : name).catch(refuse);
  const wanted = idPattern.test(name) ? await store.getManifest(name).catch(refuse) : manifest;
  return Generation.of(await loadSnapshot(store, wanted).catch(refuse));
}

/** Id of the snapshot that was published before the current one. Throws `CliError` when none is kept. */
export async function findPrevious(dataDir: string): Promise<string> {
  const { store, manifest } = await openSnapshot(dataDir).catch(refuse);
  const ids = await store.list().catch(refuse);
  const previous = ids[ids.indexOf(manifest.id) - 1];
  if (previous === undefined)
    throw new CliError(exitCodes.notFound, `${dataDir}: no snapshot is kept from before ${manifest.id}, the current one`);
  return previous;
}
