/** The options of commands for a snapshot, and the errors of a snapshot that cannot be used. */

import { PublicationConflictError, SnapshotError, SnapshotUnavailableError } from "@netfacts/snapshot";
import { type Command, Option } from "commander";
import { CliError } from "./cli-error.ts";
import { sharedSettings } from "./context.ts";
import { exitCodes } from "./exit-codes.ts";

export const snapshotOption = (description = "a data folder, a manifest inside one, or a pack file (default: the data folder)"): Option =>
  new Option("-s, --snapshot <path>", description);

/** Value of the option, else the data folder. */
export function snapshotPath(command: Command): string {
  return command.opts<{ snapshot?: string }>().snapshot ?? sharedSettings(command).dataDir;
}

/** Option for a past time, as in the API. */
export const asOfOption = (): Option =>
  new Option("--as-of <time>", "answer from the snapshot of this time: RFC 3339, or a date for the end of that day (UTC)");

/** Throws the `CliError` for a fault of a snapshot. */
export function refuse(error: unknown): never {
  if (!(error instanceof SnapshotError)) throw error;
  if (error instanceof PublicationConflictError) throw new CliError(exitCodes.refused, `${error.message}; nothing was changed`, error);
  if (error instanceof SnapshotUnavailableError) throw new CliError(exitCodes.unavailable, error.message, error);
  const missing = /no such file|no snapshot/.test(error.message);
  throw new CliError(missing ? exitCodes.notFound : exitCodes.untrusted, error.message, error);
}
