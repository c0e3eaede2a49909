/** The end of a process by an error that nobody caught: one line of the log that a program can read. */

import type { Logger } from "./logger.ts";

export interface InternalErrorOptions {
  /** Called with the message of the error, before the end: for the terminal of a process whose log is in a file. */
  readonly tell?: (message: string) => void;
}

/** From now on an uncaught error, also one of a promise, is logged and ends the process with status 1. Node alone would only print it as a text. */
export function endOnInternalError(log: Logger, { tell }: InternalErrorOptions = {}): void {
  process.on("uncaughtException", (thrown: unknown) => {
    const err = Error.isError(thrown) ? thrown : new Error(String(thrown));
    log.fatal({ err }, "service terminated by an internal error");
    tell?.(err.message);
    process.exit(1);
  });
}
