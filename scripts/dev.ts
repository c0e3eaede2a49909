/**
 * `make dev`: runs all services as separate processes on this machine, with the servers that they need.
 *
 * The processes are one process group, detached from the terminal, so that Ctrl-C reaches only this process. It stops them in order. At the
 * end it kills the rest of the group and removes its files.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Longest wait for killed processes to disappear, in ms. A process that its parent does not reap stays. */
const killMsMax = 2_000;

const folder = mkdtempSync(join(tmpdir(), "netfacts-dev-"));
const group = spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, "dev/processes.ts")], {
  detached: true,
  stdio: ["ignore", "inherit", "inherit", "ipc"],
  env: { ...process.env, TMPDIR: folder },
});

// If the reader of the output is gone (`| head`), the group notices it by its own output.
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

/** Exits with the status of the first call, after the group has stopped writing to the folder. */
async function end(status: number): Promise<void> {
  process.exitCode ??= status;
  const deadline = performance.now() + killMsMax;
  while (signalGroup() && performance.now() < deadline) await sleep(10);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
}

/** Kills the group. @returns whether it still had a process; for a moment this includes killed ones. */
function signalGroup(): boolean {
  try {
    return group.pid !== undefined && process.kill(-group.pid, "SIGKILL");
  } catch {
    return false;
  }
}
