/** `netfacts backup` and `netfacts restore`: copies of the store, of the data folder or of the database that MONGODB_URI names. */

import { existsSync, statSync } from "node:fs";
import { backUpSqliteStore, restoreSqliteStore } from "@netfacts/storage";
import { type Command, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type CliContext, type RegisterCommand, sharedSettings, storePath } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { printJson, printLines, printNote } from "../output.ts";
import { databaseUri } from "./control-store.ts";

export const backup: RegisterCommand = (program, context) => {
  program
    .command("backup")
    .description("copy the store (keys, limits, usage, audit log), also while services are running; only the owner can read the copy")
    .argument("<file>", "file to create; it must not exist")
    .action(async (file: string, _options, command: Command) => {
      const uri = databaseUri();
      const path = storePath(sharedSettings(command));
      if (uri === "" && !existsSync(path)) {
        throw new CliError(exitCodes.notFound, `there is no store ${path}: check --data-dir, or set MONGODB_URI`);
      }
      if (existsSync(file)) throw new CliError(exitCodes.refused, `${file} already exists: choose another path, or remove it first`);
      if (uri === "") backUpSqliteStore(path, file);
      else await (await import("@netfacts/storage/mongo")).backUpMongoStore(uri, file, context.now());
      const bytes = statSync(file).size;
      if (sharedSettings(command).json) return printJson(context, { file, bytes });
      printLines(context, [`${uri === "" ? path : "The database"} was copied to ${file} (${bytes} bytes).`]);
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
      const replaced = uri === "" ? restoreSqliteStore(file, path, context.now()) : await restoreDatabase(file, uri, replace, context);
      if (sharedSettings(command).json) printJson(context, { store, replaced });
      else
        printLines(context, [
          `${store} was restored from ${file}.`,
          ...(replaced === null ? [] : [`The previous content is in ${replaced}.`]),
        ]);
      printNote(
        context,
        "keys and limits are as they were when the copy was made: keys revoked since then work again until you revoke them again, and usage since then is not counted",
      );
    });
};

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
