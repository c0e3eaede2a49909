/** Runs the main function of a process. One that cannot start prints why, in plain lines, and exits with a status that says so. */

import { ConfigError } from "./config.ts";

/** 1: it failed. 2: its settings are wrong. */
const failedStatus = 1;
const configStatus = 2;

/** Runs `main`. Faults go to standard error: each fault of the settings on a line, any other as its message and the reasons behind it. */
export async function runMain(main: () => Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const lines = error instanceof ConfigError ? error.faults : [...placeOf(error), reasons(error).join(": ")];
    for (const line of lines) process.stderr.write(`${line}\n`);
    process.exitCode = error instanceof ConfigError ? configStatus : failedStatus;
    // Whatever did start (a server, a timer, a watcher) must not keep a failed process alive.
    process.stderr.write("", () => process.exit());
  }
}

/** Where a module does not compile, and the line: its message names neither. */
function placeOf(error: unknown): string[] {
  if (!Error.isError(error) || error.name !== "SyntaxError") return [];
  // Node puts them in front of the stack.
  const [place = "", stack] = (error.stack ?? "").split("\nSyntaxError");
  return stack === undefined ? [] : [place.trimEnd()];
}

/** The message of an error and of what caused it, outermost first; not what the one before says already. */
function reasons(error: unknown): string[] {
  if (!Error.isError(error)) return [String(error)];
  const [cause, ...behind] = error.cause === undefined ? [] : reasons(error.cause);
  return [error.message, ...(cause === undefined || error.message.includes(cause) ? [] : [cause]), ...behind];
}
