/** `netfacts backup` and `netfacts restore`: copies of the store, of the data folder or of the database that MONGODB_URI names. */

import { existsSync, rmSync, statSync } from "node:fs";
import { backUpSqliteObservations, backUpSqliteStore, restoreSqliteObservations, restoreSqliteStore } from "@netfacts/storage";
import { type Command, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type CliContext, observationsPath, type RegisterCommand, type SharedSettings, sharedSettings, storePath } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { printJson, printLines, printNote } from "../output.ts";
import { databaseUri } from "./control-store.ts";

export const backup: RegisterCommand = (program, context) => {
  program
    .command("backup")
    .description(
      "copy the store (keys, limits, usage, audit log) and, of a data folder, uploaded observations to <file>.observations, also while services are running; only the owner can read the copy",
    )
    .argument("<file>", "file to create; it must not exist")
    .action(async (file: string, _options, command: Command) => {
      const uri = databaseUri();
      const path = storePath(sharedSettings(command));
      if (uri === "" && !existsSync(path)) {
        throw new CliError(exitCodes.notFound, `there is no store ${path}: check --data-dir, or set MONGODB_URI`);
      }
      const observations = uri === "" && existsSync(observationsPath(sharedSettings(command))) ? observationsOf(file) : null;
      for (const target of [file, ...(observations === null ? [] : [observations])])
        if (existsSync(target)) throw new CliError(exitCodes.refused, `${target} already exists: choose another path, or remove it first`);
      if (uri === "") backUpFiles(sharedSettings(command), file, observations);
      else await (await import("@netfacts/storage/mongo")).backUpMongoStore(uri, file, context.now());
      const bytes = statSync(file).size;
      if (sharedSettings(command).json) return printJson(context, { file, bytes, observations });
      printLines(context, [
        `${uri === "" ? path : "The database"} was copied to ${file} (${bytes} bytes).`,
        ...(observations === null ? [] : [`Uploaded observations were copied to ${observations} (${statSync(observations).size} bytes).`]),
      ]);
    });
};

export const restore: RegisterCommand = (program, context) => {
  program
    .command("restore")
    .description("replace the store with a copy; no service may be running on it; the previous content is kept")
    .argument("<file>", "the copy to restore")
    .addOption(new Option("--replace", "for a database: restore even if it is not empty; its content is first copied next to the file"))
    .action(async (file: string, { replace = false }: { replace?: boolean }, command: Command) => {
      if (!existsSync(file)) throw new CliError(exitCodes.notFound, `there is no file ${file}`);
      const uri = databaseUri();
      const path = storePath(sharedSettings(command));
      const store = uri === "" ? path : "the database";
      const hasObservations = uri === "" && existsSync(observationsOf(file));
      // First: while a service runs, nothing is changed.
      const observations = hasObservations
        ? { replaced: restoreSqliteObservations(observationsOf(file), observationsPath(sharedSettings(command)), context.now()) }
        : null;
      const replaced = uri === "" ? restoreSqliteStore(file, path, context.now()) : await restoreDatabase(file, uri, replace, context);
      if (sharedSettings(command).json) printJson(context, { store, replaced, observations });
      else
        printLines(context, [
          `${store} was restored from ${file}.`,
          ...(replaced === null ? [] : [`The previous content is in ${replaced}.`]),
          ...(observations === null ? [] : [`Uploaded observations were restored from ${observationsOf(file)}.`]),
          ...(observations?.replaced == null ? [] : [`The previous observations are in ${observations.replaced}.`]),
        ]);
      if (observations !== null)
        printNote(
          context,
          "observations that were deleted since the copy was made are back: delete them again, and remove the file of the previous ones",
        );
      printNote(
        context,
        "keys and limits are as they were when the copy was made: keys revoked since then work again until you revoke them again, and usage since then is not counted",
      );
    });
};

/** The copy of uploaded observations, beside that of the store. */
function observationsOf(file: string): string {
  return `${file}.observations`;
}

/** Both, or none. */
function backUpFiles(settings: SharedSettings, file: string, observations: string | null): void {
  backUpSqliteStore(storePath(settings), file);
  try {
    if (observations !== null) backUpSqliteObservations(observationsPath(settings), observations);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/** @returns the copy of what was there. */
async function restoreDatabase(file: string, uri: string, replace: boolean, context: CliContext): Promise<string | null> {
  const { restoreMongoStore } = await import("@netfacts/storage/mongo");
  const replacedTo = `${file}.replaced-${new Date(context.now()).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const outcome = await restoreMongoStore(file, uri, { now: context.now(), ...(replace && { replacedTo }) });
  if (outcome !== null) return outcome.replaced;
  throw new CliError(
    exitCodes.refused,
    "the database is not empty: restore into an empty one, or use --replace to back up its content and replace it",
  );
}
