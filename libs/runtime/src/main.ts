/** Runs the main function of a process. If it cannot start, prints the reason in plain lines, and exits with a status. */

import { ConfigError } from "./config.ts";

/** Status 1: it failed. 2: its settings are invalid. */
const failedStatus = 1;
const configStatus = 2;

/** Runs `main`. Errors go to standard error: each invalid setting on a line, any other error as its message and causes. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const lines = error instanceof ConfigError ? error.faults : [...placeOf(error), reasons(error).join(": ")];
    for (const line of lines) process.stderr.write(`${line}\n`);
    process.exitCode = error instanceof ConfigError ? configStatus : failedStatus;
    // Anything that did start (a server, a timer, a watcher) must not keep a failed process alive.
    process.stderr.write("", () => process.exit());
  }
}

/** The file and line of a module that does not compile: the error message has neither. */
function placeOf(error: unknown): string[] {
  if (!Error.isError(error) || error.name !== "SyntaxError") return [];
  // Node puts them before the stack.
  const [place = "", stack] = (error.stack ?? "").split("\nSyntaxError");
  return stack === undefined ? [] : [place.trimEnd()];
}

/** The messages of an error and its causes, outermost first; without causes that the message before contains. */
function reasons(error: unknown): string[] {
  if (!Error.isError(error)) return [String(error)];
  const [cause, ...behind] = error.cause === undefined ? [] : reasons(error.cause);
  return [error.message, ...(cause === undefined || error.message.includes(cause) ? [] : [cause]), ...behind];
}
