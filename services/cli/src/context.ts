/** The environment of a command, and the settings that all commands share. */

import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { observationsFile } from "@netfacts/storage";
import type { Command } from "commander";

const repository = fileURLToPath(new URL("../../../", import.meta.url));

export interface CliContext {
  /** Opens standard input; only the command that reads it calls this. */
  stdin(): AsyncIterable<Uint8Array>;
  /** Results. */
  readonly stdout: NodeJS.WritableStream;
  /** Messages, progress, faults. */
  readonly stderr: NodeJS.WritableStream;
  /** Whether standard error is a terminal, in which progress may redraw its line. */
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

/** The shared options, from any place in the command line. */
export function sharedSettings(command: Command): SharedSettings {
  const { dataDir, json = false } = command.optsWithGlobals<{ dataDir: string; json?: boolean }>();
  return { dataDir, json };
}

/** The folder that `make up` uses: NETFACTS_HOME, else `.netfacts`, relative to the repository and not to the current folder. */
export function defaultDataDir({ NETFACTS_HOME }: Readonly<NodeJS.ProcessEnv> = process.env): string {
  return resolve(repository, NETFACTS_HOME?.trim() ? NETFACTS_HOME : ".netfacts");
}

/** Folder of fetched files and of the schedule of sources. */
export function ingestFolder({ dataDir }: SharedSettings): string {
  return join(dataDir, "ingest");
}

export function storePath({ dataDir }: SharedSettings): string {
  return join(dataDir, "store.sqlite");
}

/** File of uploaded observations; missing if there are none. */
export function observationsPath({ dataDir }: SharedSettings): string {
  return join(dataDir, observationsFile);
}
