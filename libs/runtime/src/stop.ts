/** The end of a process: the first signal stops gracefully, the second at once. */

import { closeSync, openSync } from "node:fs";
import { constants } from "node:os";

export interface StopOptions {
  readonly log: { info(fields: object, message: string): void; error(fields: object, message: string): void };
  /** Finishes what is in flight and closes everything. Runs once. */
  stop(): Promise<void>;
  /** Time that the stop plans to wait before it ends anything, in ms; it comes on top of `stopTimeoutMs`. Default: 0. */
  readonly drainMs?: number;
  /** Longest time for it; then the process ends with status 1. */
  readonly stopTimeoutMs?: number;
  /** Whether the terminal that it was started from is still there. Default: asks the system, when it was started from one. */
  hasTerminal?(): boolean;
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const stopTimeoutMsDefault = 30_000;
const terminalCheckMs = 1_000;
const unreadOutputMs = 2_000;

/**
 * From now on SIGINT, SIGTERM, SIGHUP and the end of the terminal run `stop`, print `stopped` and end the process with status 0; a second
 * signal ends it at once with 128 + its number, as a shell would tell. A stop that fails or takes too long ends it with status 1.
 * Output that nobody reads any more never ends it.
 *
 * @returns the same end, for a process that is done without a signal.
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
      // Whoever stopped reading the output does not hold up the end either.
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
  // The SIGHUP of a closed terminal goes to the session's leader; when that is make, it waits for us instead of passing the signal on.
  const watch = setInterval(() => {
    if (hasTerminal()) return;
    clearInterval(watch);
    if (!stopping) log.info({}, "stopping: the terminal was closed");
    end();
  }, terminalCheckMs).unref();
  return end;
}

/** A look at the controlling terminal; for a process without one, it never goes. */
function terminalOfProcess(): () => boolean {
  if (!process.stdout.isTTY) return () => true;
  return () => {
    try {
      closeSync(openSync("/dev/tty", "r"));
      return true;
    } catch (error) {
      // Without a terminal the system says "no such device"; any other fault says nothing about it.
      return (error as NodeJS.ErrnoException).code !== "ENXIO";
    }
  };
}

/** Without a listener the write error of a closed terminal (EIO) or reader (EPIPE) would be thrown and end the process. */
function surviveClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
}
