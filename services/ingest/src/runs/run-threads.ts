/** Runs ingest in a thread of its own, and passes messages between the thread and its process. */

import type { StoreSource } from "@netfacts/snapshot";
import { SpareThread } from "@netfacts/threads";
import type { ProgressListener } from "../pipeline/progress.ts";
import type { PublishTurn } from "../pipeline/publish-turn.ts";
import type { RunReport } from "../pipeline/run-report.ts";
import type { FromRun, RunRequest, RunThreadData, ToRun } from "./run-messages.ts";

export interface ThreadRunOptions extends RunRequest {
  readonly onProgress: ProgressListener;
  /** Called before the pointer moves. A rejection ends the run, and nothing is published. */
  confirm(): Promise<PublishTurn>;
  /** Ends the run; nothing more is published. */
  readonly signal: AbortSignal;
}

export type RunOutcome =
  | { readonly ok: true; readonly report: RunReport }
  | { readonly ok: false; readonly message: string; readonly report: RunReport | null };

/** A thread that builds receives no messages. It may be terminated, since it cannot publish without a confirmation. */
const stopMsMax = 2_000;

/** A run reads millions of short-lived records. By default the engine keeps 128 MiB for these alone. */
const youngMbMax = 48;

/**
 * Runs that publish into one store, each in its own thread. After a run, the thread of the next one is started, and waits with its modules loaded.
 */
export class RunThreads {
  readonly #threads: SpareThread;

  /** @param snapshots  store in which runs publish */
  constructor(snapshots: StoreSource) {
    const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
    this.#threads = new SpareThread(new URL(`./run-worker.${extension}`, import.meta.url), {
      workerData: { snapshots } satisfies RunThreadData,
      resourceLimits: { maxYoungGenerationSizeMb: youngMbMax },
    });
  }

  /** Starts the thread of the first run. */
  prepare(): void {
    this.#threads.prepare();
  }

  /** Never rejects. */
  async run(options: ThreadRunOptions): Promise<RunOutcome> {
    const outcome = await this.#run(options);
    this.prepare();
    return outcome;
  }

  /** Ends the waiting thread. To end a run in progress, use its signal. */
  close(): Promise<void> {
    return this.#threads.close();
  }

  #run({ onProgress, confirm, signal, ...request }: ThreadRunOptions): Promise<RunOutcome> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve({ ok: false, message: stopMessage(signal), report: null });
      const worker = this.#threads.take();
      let killing: NodeJS.Timeout | undefined;
      const answer = (message: ToRun) => worker.postMessage(message);
      const endSoon = (): void => {
        killing ??= setTimeout(() => void worker.terminate(), stopMsMax);
      };
      const stop = (): void => {
        answer({ kind: "stop" });
        endSoon();
      };
      // Open handles, such as a connection that is still being tried, must not keep the thread.
      const told = (outcome: RunOutcome): void => {
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
      answer({ kind: "begin", request });
      // An override that is made during an import need not wait for modules either.
      if (!request.isBeside) this.prepare();
    });
  }
}

/** Why a run was stopped. */
export function stopMessage({ reason }: AbortSignal): string {
  return Error.isError(reason) && reason.name !== "AbortError" ? reason.message : "stopped; nothing was published";
}
