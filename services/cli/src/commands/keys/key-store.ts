/** The store as commands about keys use it: opened, used, closed; and the gateways that share it told of what changed. */

import { existsSync } from "node:fs";
import { type KeyChange, keysChangedSubject } from "@netfacts/contracts";
import { type KeyRecord, openSqliteStore, type Store } from "@netfacts/storage";
import type { Command } from "commander";
import { CliError } from "../../cli-error.ts";
import { type CliContext, sharedSettings, storePath } from "../../context.ts";
import { exitCodes } from "../../exit-codes.ts";
import { printNote } from "../../output.ts";

export interface StoreUse {
  readonly command: Command;
  readonly context: CliContext;
  /** Whether a file that is not there yet is made; otherwise the command ends as "not found". */
  readonly create: boolean;
}

/** Uses the database that MONGODB_URI names, else the file of the data folder. `changed` is to be called with each key that was written. */
export async function withStore<T>(use: StoreUse, work: (store: Store, changed: (key: KeyRecord) => void) => Promise<T>): Promise<T> {
  const uri = process.env.MONGODB_URI ?? "";
  const store = uri === "" ? await openFile(use) : await openDatabase(uri);
  const written: KeyRecord[] = [];
  try {
    return await work(store, (key) => written.push(key));
  } finally {
    await store.close();
    if (uri !== "" && written.length > 0) await tellGateways(written, use.context);
  }
}

function openFile({ command, create }: StoreUse): Promise<Store> {
  const path = storePath(sharedSettings(command));
  if (!create && !existsSync(path)) {
    throw new CliError(
      exitCodes.notFound,
      `there is no store ${path}: give the right --data-dir, or make a first key with \`netfacts keys create\``,
    );
  }
  return openSqliteStore(path);
}

/** Neither driver is loaded for a store that is a file. */
async function openDatabase(uri: string): Promise<Store> {
  const { openMongoStore } = await import("@netfacts/storage/mongo");
  return openMongoStore(uri, { appName: "netfacts-cli" });
}

async function tellGateways(keys: readonly KeyRecord[], context: CliContext): Promise<void> {
  const { createNatsMessaging } = await import("@netfacts/messaging/nats");
  const servers = process.env.NATS_URL || "nats://127.0.0.1:4222";
  try {
    const messaging = await createNatsMessaging({ servers, name: "netfacts-cli", once: true });
    for (const { id, version } of keys) messaging.publish(keysChangedSubject, { key_id: id, version } satisfies KeyChange);
    await messaging.close();
  } catch {
    // The change is made by now, so this is no failure.
    printNote(
      context,
      "NATS (NATS_URL) could not be told: the change is made, and running gateways see it within the lifetime of their key cache (30 s)",
    );
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
