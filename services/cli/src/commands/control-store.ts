/** Use of keys, plans and audit log by commands: opens the store, uses it, closes it, and announces changes to the gateways that share it. */

import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { resolve } from "node:path";
import { type AuditAction, type KeyChange, keysChangedSubject, type PlanChange } from "@netfacts/contracts";
import { Administration, type ControlChange, KeySpecError, type Operator, type Pepper, readPeppers, type SpecFault } from "@netfacts/keys";
import { ConfigError, readSecretSetting } from "@netfacts/runtime/secret-setting";
import { mongoUriFault, openSqliteStore, ProfileOverrides, type Store, type StoreError } from "@netfacts/storage";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { type CliContext, sharedSettings, storePath } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { printNote } from "../output.ts";

/** Time limit for NATS to accept the announcement of a change. */
const answerMsMax = 5_000;

export interface StoreUse {
  readonly command: Command;
  readonly context: CliContext;
  /** Whether to make a missing file; else the command ends as "not found". */
  readonly create: boolean;
}

/** Uses the database that MONGODB_URI names, else the file of the data folder. */
export async function withStore<T>(use: StoreUse, work: (store: Store) => Promise<T>): Promise<T> {
  const uri = databaseUri();
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const store = uri === "" ? await openFile(use, note) : await openDatabase(uri, ({ message }) => note(message));
  try {
    const result = await work(store);
    // Printed only after success: a command that fails reports the reason itself.
    for (const text of notes) printNote(use.context, text);
    return result;
  } finally {
    await store.close();
  }
}

/** Like `withStore`, for changes: they are audited as changes of this machine's user, and announced to the gateways that share the database. */
export async function withAdministration<T>(use: StoreUse, work: (administration: Administration, by: Operator) => Promise<T>): Promise<T> {
  const pepper = currentPepper();
  const changes: ControlChange[] = [];
  try {
    return await withStore(use, (store) =>
      work(new Administration({ store, pepper, changed: (change) => void changes.push(change) }), cliOperator()),
    );
  } catch (error) {
    throw error instanceof KeySpecError ? new CliError(exitCodes.usage, error.items.map(faultLine), error) : error;
  } finally {
    if (databaseUri() !== "" && changes.length > 0) await tellGateways(changes, use.context);
  }
}

function faultLine({ field, sentence }: SpecFault): string {
  return field === "plan" ? `${sentence}; \`netfacts plans list\` lists all plans` : sentence;
}

/** For overrides of AS profiles, which are audited as changes of this machine's user. Ingest looks for changes itself. */
export async function withProfiles<T>(use: StoreUse, work: (overrides: ProfileOverrides, by: Operator) => Promise<T>): Promise<T> {
  try {
    return await withStore(use, (store) => work(new ProfileOverrides(store), cliOperator()));
  } catch (error) {
    throw error instanceof KeySpecError ? new CliError(exitCodes.usage, error.faults, error) : error;
  }
}

interface AuditedChange {
  readonly action: AuditAction;
  readonly target: string;
  readonly details: object | null;
}

/** Writes a change that a command is about to make to the audit log, as a change of this machine's user. */
export async function writeAudit(store: Pick<Store, "audit">, change: AuditedChange, context: CliContext): Promise<void> {
  await store.audit.append({ at: context.now(), ...cliOperator(), ...change });
}

/** The user of this machine, for the audit log. */
export function cliOperator(): Operator {
  return { actor: `cli:${userName()}`, address: "cli", keyId: null };
}

/** Empty: the store is the file of the data folder. */
export function databaseUri(): string {
  const uri = secretSetting("MONGODB_URI");
  const fault = uri === "" ? null : mongoUriFault(uri);
  if (fault !== null) throw new CliError(exitCodes.usage, `MONGODB_URI ${fault}`);
  return uri;
}

/** A setting from the environment, or from the file that `<NAME>_FILE` names. */
function secretSetting(name: string): string {
  try {
    return readSecretSetting(name);
  } catch (error) {
    throw error instanceof ConfigError ? new CliError(exitCodes.usage, error.faults, error) : error;
  }
}

/** The pepper with which gateways hash keys. They also accept keys without it, and rehash them when they are used. */
function currentPepper(): Pepper | null {
  const { peppers, faults } = readPeppers(secretSetting("KEY_PEPPERS"));
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
    // A user without a name, as in containers.
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

async function openFile({ command, create }: StoreUse, note: (text: string) => void): Promise<Store> {
  const path = resolve(storePath(sharedSettings(command)));
  if (existsSync(path)) return openSqliteStore(path, { check: false });
  if (!create) {
    throw new CliError(
      exitCodes.notFound,
      `there is no store ${path}: name the data folder of your installation with --data-dir or NETFACTS_HOME; a new installation begins with \`make up\`, \`netfacts ingest run\` or \`netfacts keys create\``,
    );
  }
  const store = await openSqliteStore(path);
  note(`made a new store ${path}`);
  return store;
}

/** Factor for the time limits of the store. Behind a gateway callers wait for it; a command line has time for a slow server. */
const patience = 4;

/** Loads the driver of MongoDB only here, because a store in a file does not need it. */
async function openDatabase(uri: string, onInvalid: (error: StoreError) => void): Promise<Store> {
  const { openMongoStore } = await import("@netfacts/storage/mongo");
  return openMongoStore(uri, { appName: "netfacts-cli", patience, onInvalid });
}

async function tellGateways(changes: readonly ControlChange[], context: CliContext): Promise<void> {
  const { natsConnection, openNatsMessaging } = await import("../nats.ts");
  try {
    const faults: unknown[] = [];
    const messaging = await openNatsMessaging({ ...natsConnection(), onError: (_what, cause) => void faults.push(cause) });
    for (const change of changes) messaging.publish(keysChangedSubject, messageOf(change));
    // The probe is sent later, so a refusal arrives before its answer.
    const isHeard = await messaging.probe(answerMsMax);
    await messaging.close();
    if (faults.length > 0) throw faults[0];
    if (!isHeard) throw new Error("the server does not answer");
  } catch (error) {
    // The change is already made, so this is no failure.
    printNote(
      context,
      `the change was made, but could not be announced over NATS: running gateways see it when their key cache expires (30 s). NATS: ${(error as Error).message}`,
    );
  }
}

function messageOf(change: ControlChange): KeyChange | PlanChange {
  return "keyId" in change ? { key_id: change.keyId, version: change.version } : change;
}
