/** The thread of a run. It is apart from the main thread, since building a table of millions of routes blocks, and leases do not wait. */

import { parentPort, workerData } from "node:worker_threads";
import { openStoreSource, prepareStoreSource } from "@netfacts/snapshot";
import { type ReadyFiles, readyFile, withFiles } from "../fetch/ready-files.ts";
import type { ProgressEvent } from "../pipeline/progress.ts";
import type { PublishTurn } from "../pipeline/publish-turn.ts";
import { IngestError, runIngest } from "../pipeline/run-ingest.ts";
import { readSources, type SourcesConfig, storedFormat } from "../sources/index.ts";
import { StatementFiles } from "../statements/statement-files.ts";
import { openObservations } from "../uploads/open-observations.ts";
import { storedSource } from "../uploads/stored-source.ts";
import type { FromRun, RunRequest, RunThreadData, ToRun } from "./run-messages.ts";

const { snapshots } = workerData as RunThreadData;
const stopping = new AbortController();
let answerConfirm: (answer: ToRun) => void = () => {};
const tell = (message: FromRun) => parentPort?.postMessage(message);

parentPort?.on("message", (message: ToRun) => {
  if (message.kind === "begin") void run(message.request).finally(() => parentPort?.close());
  else if (message.kind === "stop") stopping.abort();
  else answerConfirm(message);
});
prepareStoreSource(snapshots);

async function confirm(): Promise<PublishTurn> {
  const answer = new Promise<ToRun>((resolve) => {
    answerConfirm = resolve;
  });
  tell({ kind: "confirm" });
  const given = await answer;
  if (given.kind === "confirmed") return given.turn;
  throw new Error(given.kind === "refused" ? given.message : "stopped");
}

/** The list, with the stored observations if the process that started the run listed them. */
function listedWith(config: SourcesConfig, files: ReadyFiles): SourcesConfig {
  return readyFile(files, storedSource.name) === undefined ? config : { ...config, sources: [...config.sources, storedSource] };
}

/** Never rejects. */
async function run(request: RunRequest): Promise<void> {
  const { sources, overrides, files, only, observations: observationSource, statements, acceptShrink, isBeside } = request;
  try {
    const listed = await readSources(sources, { files: only === null ? "now" : "later", overrides });
    const config = withFiles(listedWith(listed, files), files, only);
    const { store, close } = await openStoreSource(snapshots);
    const isStored = config.sources.some(({ format }) => format === storedFormat);
    const observations = isStored && observationSource !== null ? await openObservations(observationSource) : undefined;
    try {
      const onProgress = (event: ProgressEvent) => tell({ kind: "progress", event });
      const report = await runIngest({
        config,
        store,
        onProgress,
        signal: stopping.signal,
        beforePublish: confirm,
        acceptShrink,
        observations,
        isBeside,
        statements: new StatementFiles(statements, isBeside ? "beside" : "alone"),
      });
      tell({ kind: "succeeded", report });
    } finally {
      await observations?.close();
      await close();
    }
  } catch (error) {
    tell({ kind: "failed", message: (error as Error).message, report: error instanceof IngestError ? error.report : null });
  }
}
