/** `netfacts backup` and `netfacts restore`: copies of the store, of the data folder or of the database that MONGODB_URI names. */

import { existsSync, rmSync, statSync } from "node:fs";
import { backUpSqliteObservations, backUpSqliteStore, replacedEnding, restoreSqlite } from "@netfacts/storage";
import { type Command, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type CliContext, observationsPath, type RegisterCommand, type SharedSettings, sharedSettings, storePath } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { printJson, printLines, printNote } from "../output.ts";
import { refuseExisting } from "../output-file.ts";
import { databaseUri } from "./control-store.ts";

export const backup: RegisterCommand = (program, context) => {
  program
    .command("backup")
    .description(
      "copy the store (keys, limits, usage, audit log) to <file> and uploaded observations to <file>.observations, also while services are running; only the owner can read the copy",
    )
    .argument("<file>", "file to create; it must not exist")
    .action(async (file: string, _options, command: Command) => {
      const uri = databaseUri();
      const path = storePath(sharedSettings(command));
      if (uri === "" && !existsSync(path)) {
        throw new CliError(exitCodes.notFound, `there is no store ${path}: check --data-dir, or set MONGODB_URI`);
      }
      for (const target of [file, observationsOf(file)]) refuseExisting(target);
      const hasObservations = uri === "" ? backUpFiles(sharedSettings(command), file) : await backUpDatabase(uri, file, context.now());
      const observations = hasObservations ? observationsOf(file) : null;
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
      const { replaced, observations } =
        uri === "" ? restoreFiles(sharedSettings(command), file, context.now()) : await restoreDatabase(file, uri, replace, context);
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
          `observations that were deleted since the copy was made are back: delete them again${observations.replaced === null ? "" : `, and remove ${observations.replaced}`}`,
        );
      printNote(
        context,
        "keys and limits are as they were when the copy was made: keys revoked since then work again until you revoke them again, and usage since then is not counted",
      );
    });
};

/** Path for the copy of uploaded observations, next to the copy of the store. */
function observationsOf(file: string): string {
  return `${file}.observations`;
}

/**
 * Makes both copies, or none. That of the store comes last: if this process is killed in between, there is no copy that seems to be whole.
 *
 * @returns whether there are observations.
 */
function backUpFiles(settings: SharedSettings, file: string): boolean {
  const hasObservations = existsSync(observationsPath(settings));
  if (hasObservations) backUpSqliteObservations(observationsPath(settings), observationsOf(file));
  try {
    backUpSqliteStore(storePath(settings), file);
    return hasObservations;
  } catch (error) {
    if (hasObservations) rmSync(observationsOf(file), { force: true });
    throw error;
  }
}

/** Like `backUpFiles`, for a database. */
async function backUpDatabase(uri: string, file: string, now: number): Promise<boolean> {
  const { backUpMongoObservations, backUpMongoStore } = await import("@netfacts/storage/mongo");
  const hasObservations = (await backUpMongoObservations(uri, observationsOf(file), now)) !== null;
  try {
    await backUpMongoStore(uri, file, now);
    return hasObservations;
  } catch (error) {
    if (hasObservations) rmSync(observationsOf(file), { force: true });
    throw error;
  }
}

/** Paths of copies of the previous content; null: there was none. */
interface Restored {
  readonly replaced: string | null;
  /** Null: none were restored. */
  readonly observations: { readonly replaced: string | null } | null;
}

/** Restores both files, or none. */
function restoreFiles(settings: SharedSettings, file: string, now: number): Restored {
  const hasObservations = existsSync(observationsOf(file));
  const store = { copy: file, path: storePath(settings) };
  const observations = hasObservations ? { copy: observationsOf(file), path: observationsPath(settings) } : null;
  const { replaced, replacedObservations } = restoreSqlite(store, observations, now);
  return { replaced, observations: hasObservations ? { replaced: replacedObservations } : null };
}

async function restoreDatabase(file: string, uri: string, replace: boolean, context: CliContext): Promise<Restored> {
  const { restoreMongoStore } = await import("@netfacts/storage/mongo");
  const ending = replacedEnding(context.now(), (text) => [`${file}${text}`, observationsOf(`${file}${text}`)]);
  const replacedTo = `${file}${ending}`;
  const observations = existsSync(observationsOf(file)) ? observationsOf(file) : null;
  const outcome = await restoreMongoStore(file, uri, { now: context.now(), observations, ...(replace && { replacedTo }) });
  if (outcome !== null)
    return { replaced: outcome.replaced, observations: observations === null ? null : { replaced: outcome.replacedObservations } };
  throw new CliError(
    exitCodes.refused,
    "the database is not empty: restore into an empty one, or use --replace to back up its content and replace it",
  );
}
