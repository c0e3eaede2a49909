/** The process behind `bin/netfacts`. */

import { runCli } from "./app.ts";
import { signalCodes } from "./interrupt.ts";
import { writeFault } from "./output-file.ts";

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough (`| head`) is no failure, and no reason to stop in the middle of a change: the command ends as it would have.
  if (error.code === "EPIPE") return;
  const { reason, exitCode } = writeFault(error);
  process.stderr.write(`netfacts: the result cannot be written to standard output: ${reason}; changes that the command made stay\n`);
  process.exit(exitCode);
});

// Messages that nobody reads any more are no reason to stop in the middle of a change.
process.stderr.on("error", () => undefined);

const code = await runCli(process.argv.slice(2), {
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  isTerminal: process.stderr.isTTY === true,
  now: Date.now,
});
process.exitCode = code;
// By the signal itself, so that a shell script that runs this command ends, too.
for (const [signal, signalCode] of signalCodes) if (code === signalCode) process.kill(process.pid, signal);
