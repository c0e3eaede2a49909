/** The end of a process: the first signal stops it gracefully, the second one at once. */

import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";

export interface StopOptions {
  readonly log: { info(fields: object, message: string): void; error(fields: object, message: string): void };
  /** Finishes work in progress and closes everything. Runs once. */
  stop(): Promise<void>;
  /** Time that the stop plans to wait before it ends anything, in ms; it is added to `stopTimeoutMs`. Default: 0. */
  readonly drainMs?: number;
  /** Time limit of the stop, in ms; after it the process ends with status 1. */
  readonly stopTimeoutMs?: number;
  /** Whether the terminal from which the process was started still exists. Default: asks the system if it was started from one. */
  hasTerminal?(): boolean;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const stopTimeoutMsDefault = 30_000;
const terminalCheckMs = 1_000;
const unreadOutputMs = 2_000;

/**
 * From now on SIGINT, SIGTERM, SIGHUP and the end of the terminal run `stop`, print `stopped` and end the process with status 0. A second signal ends
 * it at once with 128 + its number, as shells report it. A stop that fails or takes too long ends it with status 1. Output that nobody reads any more
 * never ends it.
 *
 * @returns a function that ends the process in the same way, without a signal.
 */
export function installStop({
  log,
  stop,
  drainMs = 0,
  stopTimeoutMs = stopTimeoutMsDefault,
  hasTerminal = terminalOfProcess(),
}: StopOptions): () => void {
  surviveClosedOutput();
  let stopping = false;

  const fail = (error: unknown): void => {
    log.error({ err: error }, "stopped with an error");
    process.exit(1);
  };
  const end = (): void => {
    if (stopping) return;
    stopping = true;
    const timer = setTimeout(() => fail(new Error(`not stopped within ${drainMs + stopTimeoutMs} ms`)), drainMs + stopTimeoutMs);
    stop().then(() => {
      clearTimeout(timer);
      // A reader that has stopped reading must not delay the end either.
      setTimeout(() => process.exit(0), unreadOutputMs);
      process.stdout.write("stopped\n", () => process.exit(0));
    }, fail);
  };
  for (const signal of signals) {
    process.on(signal, () => {
      if (stopping) process.exit(128 + constants.signals[signal]);
      log.info({ signal }, "stopping");
      end();
    });
  }
  // The SIGHUP of a closed terminal goes to the session's leader. If that is make, it waits for this process instead of passing the signal on.
  const watch = setInterval(() => {
    if (hasTerminal()) return;
    clearInterval(watch);
    if (!stopping) log.info({}, "stopping: the terminal was closed");
    end();
  }, terminalCheckMs).unref();
  return end;
}

/** Checks for the controlling terminal; for a process without one, always true. */
function terminalOfProcess(): () => boolean {
  if (!process.stdout.isTTY) return () => true;
  return () => {
    try {
      closeSync(openSync("/dev/tty", "r"));
      return true;
    } catch (error) {
      // Without a terminal the error is "no such device" (ENXIO); other errors say nothing about it.
      return (error as NodeJS.ErrnoException).code !== "ENXIO";
    }
  };
}

/** Without a listener, the write error of a closed terminal (EIO) or reader (EPIPE) would be thrown and end the process. */
function surviveClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}
