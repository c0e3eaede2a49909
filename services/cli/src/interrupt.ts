/** Ctrl-C and SIGTERM: work ends between two steps, after it has removed unfinished results. */

import { CliError } from "./cli-error.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** The exit code of each signal, as shells report it for a program that the signal ended. */
export const signalCodes: ReadonlyMap<NodeJS.Signals, ExitCode> = new Map([
  ["SIGINT", exitCodes.interrupted],
  ["SIGTERM", exitCodes.terminated],
]);

/**
 * Runs work that a signal can end. A second signal ends the process at once.
 *
 * @param work  rejects soon after its signal is aborted.
 * @throws CliError with the exit code of the signal, instead of the error that the work throws after a signal. Keeps the lines of a `CliError`.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let code: ExitCode | undefined;
  const stop = (signal: NodeJS.Signals): void => {
    code = signalCodes.get(signal);
    controller.abort();
    release();
  };
  const release = (): void => {
    for (const signal of signalCodes.keys()) process.off(signal, stop);
  };
  for (const signal of signalCodes.keys()) process.on(signal, stop);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (code === undefined) throw error;
    throw new CliError(code, error instanceof CliError ? error.lines : [], error);
  } finally {
    release();
  }
}
