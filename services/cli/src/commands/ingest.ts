/** `netfacts ingest run`: imports sources and publishes a snapshot. `netfacts ingest sources`: the state of each source. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  endAbandonedRuns,
  IngestError,
  importSources,
  newRunId,
  overridesIn,
  type RunReport,
  readSources,
  reportText,
  type SourcesConfig,
  SourcesFileError,
  showProgress,
  sourcesOverview,
} from "@netfacts/ingest/app";
import { loadConfig } from "@netfacts/runtime";
import { openDataFolder, retentionConfigSchema, retentionOf, type SectionName, sectionNames } from "@netfacts/snapshot";
import { makeFolder, observationsFile, openSqliteStore, runningOwner, type Store } from "@netfacts/storage";
import { type Command, Option } from "commander";
import { CliError } from "../cli-error.ts";
import { type CliContext, ingestFolder, type RegisterCommand, type SharedSettings, sharedSettings, storePath } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { interruptible } from "../interrupt.ts";
import { printJson, printLines, printNote } from "../output.ts";
import { cliOperator, writeAudit } from "./control-store.ts";
import { sourceLines } from "./source-lines.ts";

interface RunOptions {
  readonly sources: string;
  readonly acceptShrink?: readonly SectionName[];
}

export const ingest: RegisterCommand = (program, context) => {
  const group = program.command("ingest").description("import sources");
  group
    .command("run")
    .description("fetch and read the sources, build and verify a snapshot, and publish it; running services load it within a second")
    .requiredOption("--sources <file>", "sources.yaml with the sources to import")
    .addOption(
      new Option("--accept-shrink <section...>", "accept these sections and their sources, however much they shrank").choices(sectionNames),
    )
    .action(async ({ sources, acceptShrink = [] }: RunOptions, command: Command) => {
      const settings = sharedSettings(command);
      const config = await readList(sources, "now", settings);
      const retention = retentionOf(loadConfig(retentionConfigSchema));
      makeDataFolder(settings);
      const store = await openSqliteStore(storePath(settings), { check: false });
      const print = (report: RunReport): void => {
        if (settings.json) printJson(context, report);
        else context.stdout.write(reportText(report));
      };
      const run = (onBegin: () => Promise<void>, signal: AbortSignal): Promise<RunReport> => {
        const progress = showProgress(process.stderr);
        const running = importSources({
          config,
          store: openDataFolder(settings.dataDir, { retention }),
          stateFolder: ingestFolder(settings),
          observations: { kind: "sqlite", path: join(settings.dataDir, observationsFile) },
          acceptShrink,
          statements: store.statements,
          onProgress: progress.listener,
          signal,
          onBegin,
          onNote: (note) => printNote(context, note),
        });
        return running.finally(() => progress.stop());
      };
      try {
        await interruptible(async (signal) => {
          try {
            print(await recorded(store, acceptShrink, context, (onBegin) => run(onBegin, signal)));
            noteOwner(context, settings, sources);
          } catch (error) {
            if (!(error instanceof IngestError)) throw error;
            print(error.report);
            throw new CliError(error.isUnwritten ? exitCodes.unavailable : exitCodes.untrusted, error.message, error);
          }
        });
      } finally {
        await store.close();
      }
    });

  group
    .command("sources")
    .description("show when each source was fetched and is due, the age of its data, and its errors")
    .requiredOption("--sources <file>", "path of sources.yaml")
    .action(async ({ sources }: { sources: string }, command: Command) => {
      const settings = sharedSettings(command);
      const config = await readList(sources, "later", settings);
      const path = storePath(settings);
      if (!existsSync(path))
        throw new CliError(exitCodes.notFound, `there is no store ${path}: nothing was imported there; check --data-dir`);
      const store = await openSqliteStore(path, { check: false });
      try {
        const items = await sourcesOverview({
          config,
          stateFolder: ingestFolder(settings),
          runs: store.runs,
          snapshots: openDataFolder(settings.dataDir),
          now: context.now(),
        });
        if (settings.json) printJson(context, { items });
        else printLines(context, sourceLines(items, context.now()));
      } finally {
        await store.close();
      }
    });
};

/** A process that follows another list soon replaces what was published. */
function noteOwner(context: CliContext, { dataDir }: SharedSettings, sources: string): void {
  const owner = runningOwner(dataDir);
  if (owner === null || owner.follows === null || owner.follows === resolve(sources)) return;
  const { pid, url, follows } = owner;
  printNote(
    context,
    `process ${pid} (${url}) serves this data folder and will soon replace this snapshot, because it imports ${follows}; to keep this snapshot, stop it, or start it with SOURCES=${resolve(sources)}`,
  );
}

function makeDataFolder({ dataDir }: SharedSettings): void {
  try {
    makeFolder(dataDir, 0o700);
  } catch (error) {
    throw new CliError(exitCodes.unavailable, `the data folder ${dataDir} cannot be created (${(error as Error).message})`, error);
  }
}

/** Reads the list of sources, with the overrides in the data folder. */
async function readList(file: string, files: "now" | "later", settings: SharedSettings): Promise<SourcesConfig> {
  return readSources(file, { files, overrides: overridesIn(ingestFolder(settings)) }).catch((error: unknown) => {
    throw error instanceof SourcesFileError ? new CliError(exitCodes.usage, error.message.split("\n"), error) : error;
  });
}

/**
 * Saves the run and its report in the store from its start, even if it fails, and audits it like runs of the service. It starts when no other
 * import uses the folder. So earlier runs of the command line that the store shows as running were interrupted.
 */
async function recorded(
  store: Store,
  acceptShrink: readonly SectionName[],
  context: CliContext,
  run: (onBegin: () => Promise<void>) => Promise<RunReport>,
): Promise<RunReport> {
  const { now } = context;
  const { actor } = cliOperator();
  const by = { started_by: actor };
  const details = acceptShrink.length === 0 ? null : { accept_shrink: acceptShrink };
  let begun: { readonly id: string; readonly startedAt: number } | null = null;
  const begin = async (): Promise<void> => {
    await endAbandonedRuns({ runs: store.runs, clock: context, isAbandoned: (startedBy) => startedBy?.startsWith("cli:") === true });
    const startedAt = now();
    const id = newRunId(startedAt);
    await writeAudit(store, { action: "run.start", target: id, details }, context);
    await store.runs.save({ id, startedAt, endedAt: null, state: "running", report: by });
    begun = { id, startedAt };
  };
  const end = async (state: "succeeded" | "failed", report: RunReport | null) => {
    if (begun !== null) await store.runs.save({ ...begun, endedAt: now(), state, report: { ...by, ...report } });
  };
  let report: RunReport;
  try {
    report = await run(begin);
  } catch (error) {
    // The error of the run is more important than a failure to save its record.
    await end("failed", error instanceof IngestError ? error.report : null).catch(() => undefined);
    throw error;
  }
  await end("succeeded", report);
  return report;
}
