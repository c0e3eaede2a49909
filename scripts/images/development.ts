/**
 * The program of the image for development (Dockerfile, stage `development`). It runs a service from its sources, and restarts it when a source
 * changes. Its first argument selects the service; `cli` runs the command line once. `INSPECT=host:port` opens Node's inspector in the service.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, type FSWatcher, readdirSync, watch, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { basename, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const mounted = ["libs", "services"] as const;
/** Wait after a changed file, in ms: one change can write many files. */
const settleMs = 200;
/** Time until a process is killed that does not stop, for example at a breakpoint. */
const stopMsMax = 15_000;
/** Time until a service that ended by itself is restarted: it may have needed a server that was not running yet. */
const retryMs = 15_000;

const [name = "", ...args] = process.argv.slice(2);

/** Fills the volumes over the folders of sources, which are empty at first. Files that are copied there later survive a restart of the container. */
function fillVolumes(): void {
  for (const folder of mounted) {
    const done = join(root, folder, ".filled");
    if (existsSync(done)) continue;
    cpSync(join(root, "original", folder), join(root, folder), { recursive: true });
    writeFileSync(done, "");
  }
}

function say(text: string): void {
  process.stderr.write(`development: ${text}\n`);
}

function start(service: string, inspect: string | undefined): ChildProcess {
  const options = ["--conditions=source", ...(inspect ? [`--inspect=${inspect}`] : [])];
  return spawn(process.execPath, [...options, join(root, "services", service, "src/main.ts"), ...args], { stdio: "inherit" });
}

const statusOf = (code: number | null, signal: NodeJS.Signals | null) => code ?? 128 + constants.signals[signal ?? "SIGKILL"];

function runOnce(): void {
  const child = start(name, undefined);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal));
  child.once("exit", (code, signal) => process.exit(statusOf(code, signal)));
}

/**
 * Calls `onChange` for each change below the folders. It watches folders instead of files: tar replaces a file by a new one, and Node's own `--watch`
 * notices only the first replacement.
 */
function watchFolders(folders: readonly string[], onChange: (path: string) => void): void {
  const watchers = new Map<string, FSWatcher>();
  const forget = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const add = (folder: string): void => {
    if (!watchers.has(folder)) {
      const watcher = watch(folder, (event, file) => {
        // The folder was removed. A new folder of the same name may follow.
        if (event === "rename" && file === basename(folder)) forget(folder);
        addAll();
        onChange(join(folder, file ?? ""));
      });
      watcher.on("error", () => forget(folder));
      watchers.set(folder, watcher);
    }
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && entry.name !== "node_modules") add(join(folder, entry.name));
  };
  const addAll = () => {
    try {
      for (const folder of folders) add(folder);
    } catch (error) {
      // A folder was removed meanwhile. The watcher of its parent reports this.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  };
  addAll();
}

/** Runs the service until a signal comes, and exits after the service. */
function runAndWatch(): void {
  const { INSPECT: inspect } = process.env;
  let child: ChildProcess | null = null;
  let isChanged = false;
  let isStopping = false;
  let retry: NodeJS.Timeout | undefined;
  let settled: NodeJS.Timeout | undefined;

  const run = () => {
    clearTimeout(retry);
    isChanged = false;
    const started = start(name, inspect);
    child = started;
    started.once("exit", (code, signal) => {
      child = null;
      const status = statusOf(code, signal);
      if (isStopping) process.exit(status);
      if (isChanged) return run();
      say(`${name} ended with status ${status}; it starts again when a file changes, or in ${retryMs / 1_000} s`);
      retry = setTimeout(run, retryMs);
    });
  };
  const stop = (signal: NodeJS.Signals) => {
    const stopped = child;
    stopped?.kill(signal);
    setTimeout(() => stopped?.kill("SIGKILL"), stopMsMax).unref();
  };
  const restart = () => {
    isChanged = true;
    if (child === null) run();
    else stop("SIGTERM");
  };

  // `standalone` runs the others.
  const own = name === "standalone" ? "services" : `services/${name}`;
  watchFolders([join(root, "libs"), join(root, own)], (path) => {
    clearTimeout(settled);
    settled = setTimeout(() => {
      say(`${path} changed: ${name} starts again`);
      restart();
    }, settleMs);
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (child === null) process.exit(0);
      isStopping = true;
      stop(signal);
    });
  }
  run();
}

fillVolumes();
if (!existsSync(join(root, "services", name, "src/main.ts")) || name === "") {
  const names = readdirSync(join(root, "services")).filter((each) => !each.startsWith("."));
  process.stderr.write(`there is no service ${JSON.stringify(name)}; use one of ${names.join(", ")}\n`);
  process.exit(2);
}
if (name === "cli") runOnce();
else runAndWatch();
