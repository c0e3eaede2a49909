/** Keys, plans and the audit as commands use them: opened, used, closed; and the gateways that share them told of what changed. */

import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { type KeyChange, keysChangedSubject, type PlanChange } from "@netfacts/contracts";
import { Administration, type ControlChange, KeySpecError, type Operator, type Pepper, readPeppers } from "@netfacts/keys";
import { openSqliteStore, type Store } from "@netfacts/storage";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { type CliContext, sharedSettings, storePath } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { printNote } from "../output.ts";

export interface StoreUse {
  readonly command: Command;
  readonly context: CliContext;
  /** Whether a file that is not there yet is made; otherwise the command ends as "not found". */
  readonly create: boolean;
}

/** Uses the database that MONGODB_URI names, else the file of the data folder. */
export async function withStore<T>(use: StoreUse, work: (store: Store) => Promise<T>): Promise<T> {
  const uri = databaseUri();
  const store = uri === "" ? await openFile(use) : await openDatabase(uri);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The same for changes: they are audited as those of the user of this machine, and told to the gateways that share the database. */
export async function withAdministration<T>(use: StoreUse, work: (administration: Administration, by: Operator) => Promise<T>): Promise<T> {
  const pepper = currentPepper();
  const changes: ControlChange[] = [];
  try {
    return await withStore(use, (store) =>
      work(new Administration({ store, pepper, changed: (change) => void changes.push(change) }), {
        actor: `cli:${userName()}`,
        address: "cli",
        keyId: null,
      }),
    );
  } catch (error) {
    throw error instanceof KeySpecError ? new CliError(exitCodes.usage, error.faults, error) : error;
  } finally {
    if (databaseUri() !== "" && changes.length > 0) await tellGateways(changes, use.context);
  }
}

/** Empty: the store is the file of the data folder. */
export function databaseUri(): string {
  return process.env.MONGODB_URI ?? "";
}

/** The pepper that gateways hash keys with: they read keys without it, too, and hash them anew when they are used. */
function currentPepper(): Pepper | null {
  const { KEY_PEPPERS: setting = "", KEY_PEPPERS_FILE: file = "" } = process.env;
  if (setting !== "" && file !== "") throw new CliError(exitCodes.usage, "KEY_PEPPERS and KEY_PEPPERS_FILE are both set; set only one");
  let text = setting;
  if (file !== "") {
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      throw new CliError(exitCodes.usage, `KEY_PEPPERS_FILE cannot be read: ${(error as Error).message}`, error);
    }
  }
  const { peppers, faults } = readPeppers(text);
  if (faults.length > 0)
    throw new CliError(
      exitCodes.usage,
      faults.map((fault) => `KEY_PEPPERS: ${fault}`),
    );
  return peppers.current;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user without a name, as containers have them.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

function openFile({ command, create }: StoreUse): Promise<Store> {
  const path = storePath(sharedSettings(command));
  if (!create && !existsSync(path)) {
    throw new CliError(
      exitCodes.notFound,
      `there is no store ${path}: check --data-dir, or create a first key with \`netfacts keys create\``,
    );
  }
  return openSqliteStore(path);
}

/** Neither driver is loaded for a store that is a file. */
async function openDatabase(uri: string): Promise<Store> {
  const { openMongoStore } = await import("@netfacts/storage/mongo");
  return openMongoStore(uri, { appName: "netfacts-cli" });
}

async function tellGateways(changes: readonly ControlChange[], context: CliContext): Promise<void> {
  const { createNatsMessaging } = await import("@netfacts/messaging/nats");
  const servers = process.env.NATS_URL || "nats://127.0.0.1:4222";
  try {
    const messaging = await createNatsMessaging({ servers, name: "netfacts-cli", once: true });
    for (const change of changes) messaging.publish(keysChangedSubject, messageOf(change));
    await messaging.close();
  } catch {
    // The change is made by now, so this is no failure.
    printNote(
      context,
      "the change was made, but could not be announced over NATS (NATS_URL): running gateways see it when their key cache expires (30 s)",
    );
  }
}

function messageOf(change: ControlChange): KeyChange | PlanChange {
  return "keyId" in change ? { key_id: change.keyId, version: change.version } : change;
}
