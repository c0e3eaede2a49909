/** `netfacts ingest run`: imports sources and publishes a snapshot. `netfacts ingest sources`: how each of them fares. */

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { openDataFolder } from "@netfacts/dataset";
import {
  IngestError,
  importSources,
  type RunReport,
  readSources,
  reportText,
  type SourcesConfig,
  SourcesFileError,
  showProgress,
  sourcesOverview,
} from "@netfacts/ingest/app";
import { openSqliteStore, type Store } from "@netfacts/storage";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import { ingestFolder, type RegisterCommand, sharedSettings, storePath } from "../context.ts";
import { exitCodes } from "../exit-codes.ts";
import { printJson, printLines, printNote } from "../output.ts";
import { sourceLines } from "./source-lines.ts";

export const ingest: RegisterCommand = (program, context) => {
  const group = program.command("ingest").description("import sources");
  group
    .command("run")
    .description("fetch and read the sources, build and verify a snapshot, publish it; running services load it within a second")
    .requiredOption("--sources <file>", "sources.yaml: what to read, and how far to trust it")
    .action(async ({ sources }: { sources: string }, command: Command) => {
      const settings = sharedSettings(command);
      const config = await readList(sources, "now");
      await mkdir(settings.dataDir, { recursive: true });
      const store = await openSqliteStore(storePath(settings));
      const print = (report: RunReport): void => {
        if (settings.json) printJson(context, report);
        else context.stdout.write(reportText(report));
      };
      try {
        print(
          await recorded(store, context.now, () => {
            const progress = showProgress(process.stderr);
            const run = importSources({
              config,
              store: openDataFolder(settings.dataDir),
              stateFolder: ingestFolder(settings),
              onProgress: progress.listener,
              signal: interrupted(),
              onNote: (note) => printNote(context, note),
            });
            return run.finally(() => progress.stop());
          }),
        );
      } catch (error) {
        if (!(error instanceof IngestError)) throw error;
        print(error.report);
        throw new CliError(exitCodes.untrusted, error.message, error);
      } finally {
        await store.close();
      }
    });

  group
    .command("sources")
    .description("when each source was fetched and is due, how old its data are, and what is wrong with it")
    .requiredOption("--sources <file>", "sources.yaml: the list")
    .action(async ({ sources }: { sources: string }, command: Command) => {
      const settings = sharedSettings(command);
      const config = await readList(sources, "later");
      const path = storePath(settings);
      if (!existsSync(path))
        throw new CliError(exitCodes.notFound, `there is no store ${path}: nothing was imported there; give the right --data-dir`);
      const store = await openSqliteStore(path);
      try {
        const items = await sourcesOverview({
          config,
          stateFolder: ingestFolder(settings),
          runs: store.runs,
          snapshots: openDataFolder(settings.dataDir),
          now: context.now(),
        });
        if (settings.json) printJson(context, { items });
        else printLines(context, sourceLines(items));
      } finally {
        await store.close();
      }
    });
};

async function readList(file: string, files: "now" | "later"): Promise<SourcesConfig> {
  return readSources(file, { files }).catch((error: unknown) => {
    throw error instanceof SourcesFileError ? new CliError(exitCodes.usage, error.message.split("\n"), error) : error;
  });
}

/** Ctrl-C ends the run between two steps; nothing is published then. */
function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}

/** Keeps the run and its report in the store, whatever becomes of it. */
async function recorded(store: Store, now: () => number, run: () => Promise<RunReport>): Promise<RunReport> {
  const startedAt = now();
  const id = `${new Date(startedAt).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z-${randomBytes(3).toString("hex")}`;
  await store.runs.save({ id, startedAt, endedAt: null, state: "running", report: null });
  try {
    const report = await run();
    await store.runs.save({ id, startedAt, endedAt: now(), state: "succeeded", report });
    return report;
  } catch (error) {
    await store.runs.save({
      id,
      startedAt,
      endedAt: now(),
      state: "failed",
      report: error instanceof IngestError ? error.report : null,
    });
    throw error;
  }
}
