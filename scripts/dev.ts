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

const folder = mkdtempSync(join(tmpdir(), "netfacts-dev-"));
const group = spawn(process.execPath, [...process.execArgv, join(import.meta.dirname, "dev/processes.ts")], {
  detached: true,
  stdio: ["ignore", "inherit", "inherit", "ipc"],
  env: { ...process.env, TMPDIR: folder },
});

let stops = 0;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    stops += 1;
    if (stops === 1) group.send("stop", () => undefined);
    else end(128 + constants.signals[signal]);
  });
}
group.once("error", (error) => {
  process.stderr.write(`${error.message}\n`);
  end(1);
});
group.once("exit", (code) => end(code ?? 1));

function end(status: number): never {
  try {
    if (group.pid !== undefined) process.kill(-group.pid, "SIGKILL");
  } catch {
    // Nothing is left of it.
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(status);
}
