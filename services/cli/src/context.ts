/** What a command may touch of the world, and the settings that all commands share. */

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { observationsFile } from "@netfacts/storage";
import type { Command } from "commander";

const repository = fileURLToPath(new URL("../../../", import.meta.url));

export interface CliContext {
  /** Standard input, as it comes; asked for by the command that reads it. */
  stdin(): AsyncIterable<Uint8Array>;
  /** Results. */
  readonly stdout: NodeJS.WritableStream;
  /** Messages, progress, faults. */
  readonly stderr: NodeJS.WritableStream;
  /** Standard error is a terminal: progress may redraw its line. */
  readonly isTerminal: boolean;
  /** Unix milliseconds. */
  now(): number;
}

/** Adds one command, with its subcommands, to the program. */
export type RegisterCommand = (program: Command, context: CliContext) => void;

export interface SharedSettings {
  readonly dataDir: string;
  readonly json: boolean;
}

/** The shared options, wherever on the command line they stood. */
export function sharedSettings(command: Command): SharedSettings {
  const { dataDir, json = false } = command.optsWithGlobals<{ dataDir: string; json?: boolean }>();
  return { dataDir, json };
}

/** As `make up` has it: NETFACTS_HOME, else `.netfacts`, both relative to the repository and not to the current folder. */
export function defaultDataDir({ NETFACTS_HOME }: Readonly<NodeJS.ProcessEnv> = process.env): string {
  return resolve(repository, NETFACTS_HOME?.trim() ? NETFACTS_HOME : ".netfacts");
}

/** What was fetched, and when each source is due. */
export function ingestFolder({ dataDir }: SharedSettings): string {
  return join(dataDir, "ingest");
}

export function storePath({ dataDir }: SharedSettings): string {
  return join(dataDir, "store.sqlite");
}

/** Uploaded observations, once there are any. */
export function observationsPath({ dataDir }: SharedSettings): string {
  return join(dataDir, observationsFile);
}
