/** A run's thread: building a table of millions of routes stops whatever else its thread does, and leases do not wait. */

import { parentPort, workerData } from "node:worker_threads";
import { openStoreSource } from "@netfacts/snapshot";
import { withFiles } from "../fetch/ready-files.ts";
import type { ProgressEvent } from "../pipeline/progress.ts";
import { IngestError, runIngest } from "../pipeline/run-ingest.ts";
import { readSources } from "../sources/index.ts";
import type { FromRun, RunRequest, ToRun } from "./run-messages.ts";

const { sources, overrides, snapshots, files, only, acceptShrink } = workerData as RunRequest;
const stopping = new AbortController();
let answerConfirm: (answer: ToRun) => void = () => {};
const tell = (message: FromRun) => parentPort?.postMessage(message);

parentPort?.on("message", (message: ToRun) => {
  if (message.kind === "stop") stopping.abort();
  else answerConfirm(message);
});

async function confirm(): Promise<void> {
  const answer = new Promise<ToRun>((resolve) => {
    answerConfirm = resolve;
  });
  tell({ kind: "confirm" });
  const given = await answer;
  if (given.kind === "refused") throw new Error(given.message);
}

try {
  const config = withFiles(await readSources(sources, { files: only === null ? "now" : "later", overrides }), files, only);
  const { store, close } = await openStoreSource(snapshots);
  try {
    const onProgress = (event: ProgressEvent) => tell({ kind: "progress", event });
    const report = await runIngest({ config, store, onProgress, signal: stopping.signal, beforePublish: confirm, acceptShrink });
    tell({ kind: "succeeded", report });
  } finally {
    await close();
  }
} catch (error) {
  tell({ kind: "failed", message: (error as Error).message, report: error instanceof IngestError ? error.report : null });
}
parentPort?.close();
