/** The option by which commands name a snapshot, and its loading. */

import {
  Generation,
  loadSnapshot,
  type OpenedSnapshot,
  openSnapshot,
  type Publication,
  PublicationConflictError,
  pastManifest,
  publicationTime,
  SnapshotError,
  SnapshotUnavailableError,
} from "@netfacts/snapshot";
import { type Command, Option } from "commander";
import { CliError } from "./cli-error.ts";
import { sharedSettings } from "./context.ts";
import { exitCodes } from "./exit-codes.ts";

export const snapshotOption = (
  description = "a data directory, a manifest inside one, or a pack file (default: the data directory)",
): Option => new Option("-s, --snapshot <path>", description);

/** What the option says, else the data folder. */
export function snapshotPath(command: Command): string {
  return command.opts<{ snapshot?: string }>().snapshot ?? sharedSettings(command).dataDir;
}

/** Opens the snapshot that the command names. Throws `CliError`. */
async function openNamed(command: Command): Promise<OpenedSnapshot> {
  return openSnapshot(snapshotPath(command)).catch(refuse);
}

/** Loads the snapshot that the command names. Throws `CliError`. */
export async function loadNamed(command: Command): Promise<Generation> {
  const { store, manifest } = await openNamed(command);
  return Generation.of(await loadSnapshot(store, manifest).catch(refuse));
}

/** A time of the past, as the API has it. */
export const asOfOption = (): Option =>
  new Option("--as-of <time>", "answer from the snapshot of this time: RFC 3339, or a date for the end of that day (UTC)");

/** The snapshot of a time that the data folder keeps, as the API answers from it. Throws `CliError`. */
export async function loadPast(command: Command, atSeconds: number): Promise<{ generation: Generation; publication: Publication }> {
  const { store } = await openNamed(command);
  const publications = await store.publications().catch(refuse);
  const time = publicationTime(atSeconds * 1_000);
  const publication = publications.findLast(({ at }) => at <= time);
  if (publication === undefined) {
    const [earliest, latest] = [publications[0]?.at, publications.at(-1)?.at];
    const kept =
      earliest === undefined ? "nothing says when it was published" : `the earliest was published at ${earliest}, the latest at ${latest}`;
    throw new CliError(exitCodes.notFound, `no snapshot of ${time} is kept: ${kept}`);
  }
  const manifest = pastManifest(await store.getManifest(publication.id).catch(refuse));
  return { generation: Generation.of(await loadSnapshot(store, manifest).catch(refuse)), publication };
}

/** Turns what is wrong with a snapshot into the command's end. */
export function refuse(error: unknown): never {
  if (!(error instanceof SnapshotError)) throw error;
  if (error instanceof PublicationConflictError) throw new CliError(exitCodes.refused, `${error.message}; nothing was changed`, error);
  if (error instanceof SnapshotUnavailableError) throw new CliError(exitCodes.unavailable, error.message, error);
  const missing = /no such file|no snapshot/.test(error.message);
  throw new CliError(missing ? exitCodes.notFound : exitCodes.untrusted, error.message, error);
}
