/** Errors that end a command with a message and an exit code. */

import { isNotWritable, StoreError, type StoreFault } from "@netfacts/storage";
import { CommanderError } from "commander";
import { type ExitCode, exitCodes } from "./exit-codes.ts";

/** Error with lines for people: the fault and its remedy. */
export class CliError extends Error {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];

  constructor(exitCode: ExitCode, lines: string | readonly string[], cause?: unknown) {
    const all = typeof lines === "string" ? [lines] : lines;
    super(all.join("; "), cause === undefined ? {} : { cause });
    this.name = "CliError";
    this.exitCode = exitCode;
    this.lines = all;
  }
}

const storeExitCodes: Record<StoreFault, ExitCode> = {
  damaged: exitCodes.untrusted,
  foreign: exitCodes.untrusted,
  invalid: exitCodes.untrusted,
  newer: exitCodes.untrusted,
  locked: exitCodes.unavailable,
  readonly: exitCodes.unavailable,
  full: exitCodes.unavailable,
  unavailable: exitCodes.unavailable,
  closed: exitCodes.failed,
};

/** @returns the exit code, and the lines still to be written: none if commander has written them. */
export function endingOf(error: unknown): { readonly exitCode: ExitCode; readonly lines: readonly string[] } {
  if (error instanceof CliError) return error;
  if (error instanceof StoreError) return { exitCode: storeExitCodes[error.fault], lines: [error.message] };
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? exitCodes.ok : exitCodes.usage, lines: [] };
  const { code, path } = error as NodeJS.ErrnoException;
  if (Error.isError(error) && isNotWritable(code) && path !== undefined)
    return { exitCode: exitCodes.unavailable, lines: [`${path}: this user may not use it (${code})`] };
  return { exitCode: exitCodes.failed, lines: reasons(error) };
}

/** The messages of an error and its causes, outermost first. */
function reasons(error: unknown): string[] {
  if (!Error.isError(error)) return [String(error)];
  return [error.message, ...(error.cause === undefined ? [] : reasons(error.cause))];
}
