/** The process behind `bin/netfacts`. */

import { runCli } from "./app.ts";
import { signalCodes } from "./interrupt.ts";
import { writeFault } from "./output-file.ts";

process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // A reader that has ended (`| head`) is no failure, and must not stop a change in the middle: the command continues.
  if (error.code === "EPIPE") return;
  const { reason, exitCode } = writeFault(error);
  process.stderr.write(`netfacts: the result cannot be written to standard output: ${reason}; changes that the command made stay\n`);
  process.exit(exitCode);
});

// If messages have no reader any more, a change must not stop in the middle.
process.stderr.on("error", () => undefined);

const code = await runCli(process.argv.slice(2), {
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  isTerminal: process.stderr.isTTY === true,
  now: Date.now,
});
process.exitCode = code;
// End by the signal itself, so that a shell script that runs this command ends too.
for (const [signal, signalCode] of signalCodes) if (code === signalCode) process.kill(process.pid, signal);
