/**
 * `make dev`: all services as processes of their own on this machine, with the servers that they need.
 *
 * The processes are those of one process group, away from the terminal: a Ctrl-C reaches this process only, which has them stopped in
 * order, and at the end ends whatever is left of the group and removes its files.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A killed process is gone within this, unless nobody asks for its end. */
const killMsMax = 2_000;

const folder = mkdtempSync(join(tmpdir(), "netfacts-dev-"));
const group = spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, "dev/processes.ts")], {
  detached: true,
  stdio: ["ignore", "inherit", "inherit", "ipc"],
  env: { ...process.env, TMPDIR: folder },
});

// A reader that is gone (`| head`) is told to the group by its own output.
process.stdout.on("error", () => undefined);

let stops = 0;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    stops += 1;
    if (stops > 1) {
      void end(128 + constants.signals[signal]);
      return;
    }
    process.stdout.write("stopping; press Ctrl-C again to stop everything at once\n");
    group.send("stop", () => undefined);
  });
}
group.once("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  void end(1);
});
group.once("exit", (code) => void end(code ?? 1));

/** Ends with the status of the first call, once nobody writes to the folder any more. */
async function end(status: number): Promise<void> {
  process.exitCode ??= status;
  const deadline = performance.now() + killMsMax;
  while (signalGroup() && performance.now() < deadline) await sleep(10);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
}

/** @returns whether anybody was left; for a moment also those who have ended already. */
function signalGroup(): boolean {
  try {
    return group.pid !== undefined && process.kill(-group.pid, "SIGKILL");
  } catch {
    return false;
  }
}
