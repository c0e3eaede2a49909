/** The store as commands about keys use it: opened, used, closed. */

import { existsSync } from "node:fs";
import { openSqliteStore, type Store } from "@netfacts/storage";
import type { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { sharedSettings, storePath } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";

/** @param create  whether a store that is not there yet is made; otherwise the command ends as "not found". */
export async function withStore<T>(command: Command, create: boolean, work: (store: Store) => Promise<T>): Promise<T> {
  const path = storePath(sharedSettings(command));
  if (!create && !existsSync(path)) {
    throw new CliError(
      exitCodes.notFound,
      `there is no store ${path}: give the right --data-dir, or make a first key with \`netfacts keys create\``,
    );
  }
  const store = await openSqliteStore(path);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const keyName = /^(?:nf_(?:live|test)_)?([0-9A-Za-z]{8})(?:_.*)?$/;

/** The id in what people paste: the id itself, the display form, a whole key. Never echoed in an error, as it may hold a secret. */
export function keyIdOf(text: string): string {
  const id = keyName.exec(text)?.[1];
  if (id === undefined)
    throw new CliError(exitCodes.usage, "that is no key id: it has 8 letters and digits, as `netfacts keys list` shows it");
  return id.toUpperCase();
}

export function keyNotFound(id: string): CliError {
  return new CliError(exitCodes.notFound, `there is no key ${id}; \`netfacts keys list\` shows all`);
}
