/** Runs ingest in a thread of its own; what the thread must ask or tell goes through here. */

import { Worker } from "node:worker_threads";
import type { ProgressListener } from "../pipeline/progress.ts";
import type { PublishTurn } from "../pipeline/publish-turn.ts";
import type { RunReport } from "../pipeline/run-report.ts";
import type { FromRun, RunRequest, ToRun } from "./run-messages.ts";

export interface WorkerRunOptions extends RunRequest {
  readonly onProgress: ProgressListener;
  /** Asked before the pointer moves; a rejection ends the run, and nothing is published. */
  confirm(): Promise<PublishTurn>;
  /** Ends the run; nothing is published that was not yet. */
  readonly signal: AbortSignal;
}

export type WorkerRunOutcome =
  | { readonly ok: true; readonly report: RunReport }
  | { readonly ok: false; readonly message: string; readonly report: RunReport | null };

/** A thread that builds hears nothing; it may be ended, as it cannot publish without being told to. */
const stopMsMax = 2_000;

/** A run reads millions of records that are soon done with: left to itself the engine keeps 128 MiB for those alone. */
const youngMbMax = 48;

/** Never rejects. */
export function runInWorker({ onProgress, confirm, signal, ...request }: WorkerRunOptions): Promise<WorkerRunOutcome> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ ok: false, message: stopMessage(signal), report: null });
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./run-worker.${extension}`, import.meta.url), {
      workerData: request satisfies RunRequest,
      resourceLimits: { maxYoungGenerationSizeMb: youngMbMax },
    });
    let killing: NodeJS.Timeout | undefined;
    const answer = (message: ToRun) => worker.postMessage(message);
    const endSoon = (): void => {
      killing ??= setTimeout(() => void worker.terminate(), stopMsMax);
    };
    const stop = (): void => {
      answer({ kind: "stop" });
      endSoon();
    };
    // What it leaves open, as a connection that is still being tried, must not keep the thread.
    const told = (outcome: WorkerRunOutcome): void => {
      resolve(outcome);
      endSoon();
    };
    signal.addEventListener("abort", stop, { once: true });
    worker.on("message", (message: FromRun) => {
      if (message.kind === "progress") onProgress(message.event);
      else if (message.kind === "confirm") {
        confirm().then(
          (turn) => answer(signal.aborted ? { kind: "refused", message: stopMessage(signal) } : { kind: "confirmed", turn }),
          (error: Error) => answer({ kind: "refused", message: error.message }),
        );
      } else if (message.kind === "succeeded") told({ ok: true, report: message.report });
      else told({ ok: false, message: signal.aborted ? stopMessage(signal) : message.message, report: message.report });
    });
    worker.once("error", (error: Error) => resolve({ ok: false, message: `the run's thread failed: ${error.message}`, report: null }));
    worker.once("exit", (code) => {
      clearTimeout(killing);
      signal.removeEventListener("abort", stop);
      const message = signal.aborted ? stopMessage(signal) : `the run's thread ended with code ${code}`;
      resolve({ ok: false, message, report: null });
    });
  });
}

/** What ended a run that was told to end. */
export function stopMessage({ reason }: AbortSignal): string {
  return Error.isError(reason) && reason.name !== "AbortError" ? reason.message : "stopped; nothing was published";
}
