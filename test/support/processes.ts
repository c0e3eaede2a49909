/** The one-process form and the command line as real processes, each with its own environment and state folder. */

import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { compileCache } from "./compile-cache.ts";
import { forTests } from "./for-tests.ts";
import { programArgs } from "./programs.ts";

const root = resolve(import.meta.dirname, "../..");

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly home: string;
  /** Its output so far. */
  out(): string;
  err(): string;
  /** Resolves when it has printed the text; rejects with all output if it ends before. */
  printed(text: string | RegExp, timeoutMs?: number): Promise<void>;
  readonly ended: Promise<Ended>;
}

export interface Standalone extends Running {
  readonly url: string;
  readonly operationsUrl: string;
  /** The key that the first start prints; empty at later starts. */
  readonly key: string;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Ended>;
}

/** Longest start in ms: the first one imports data, and the machine may be busy. */
const readyMsMax = 110_000;

const live = new Set<ChildProcess>();

/** Ends processes that failed tests did not end. For `afterAll`. */
export async function endAll(): Promise<void> {
  const ends = [...live].map((child) => once(child, "exit"));
  for (const child of live) child.kill("SIGKILL");
  await Promise.all(ends);
}

/** A new folder, which `removeFolders` removes. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "netfacts-process-"));
  folders.push(folder);
  return folder;
}
const folders: string[] = [];

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

function run(command: string, args: readonly string[], home: string, options: SpawnOptions): Running {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  live.add(child);
  let out = "";
  let err = "";
  const listeners = new Set<() => void>();
  const heard = () => {
    for (const listener of listeners) listener();
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    heard();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
    heard();
  });
  const ended = new Promise<Ended>((done, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => done({ code, signal, out, err }));
    child.once("exit", () => live.delete(child));
  });
  return {
    child,
    pid: child.pid ?? -1,
    home,
    out: () => out,
    err: () => err,
    ended,
    printed: (wanted, timeoutMs = readyMsMax) =>
      new Promise((done, fail) => {
        const matches = () => (typeof wanted === "string" ? out.includes(wanted) : wanted.test(out));
        const timer = setTimeout(() => fail(new Error(`did not print ${wanted} within ${timeoutMs} ms:\n${out}${err}`)), timeoutMs);
        const look = () => {
          if (!matches()) return;
          clearTimeout(timer);
          listeners.delete(look);
          done();
        };
        listeners.add(look);
        look();
        void ended.then(() => {
          clearTimeout(timer);
          if (!matches()) fail(new Error(`ended before it printed ${wanted}:\n${out}${err}`));
        });
      }),
  };
}

/** Settings of tests. Defaults: free ports, and a resolver at a port where no server listens. */
export type Settings = Readonly<Record<string, string>>;

function environment(home: string, settings: Settings): NodeJS.ProcessEnv {
  const own = { ...compileCache, NODE_NO_WARNINGS: "1", HOME: home, PATH: process.env.PATH };
  return { ...own, NETFACTS_HOME: home, PORT: "0", TELEMETRY_PORT: "0", ...forTests, RESOLVERS: "127.0.0.1:9", ...settings };
}

/** Starts the process without waiting for it to be ready. */
export function launchStandalone(home: string, settings: Settings = {}, options: SpawnOptions = {}): Running {
  return run(process.execPath, programArgs("standalone"), home, { cwd: root, env: environment(home, settings), ...options });
}

/** The same with a line of `sh` that ends in `exec "$@"`, for limits that only a shell can set. */
export function launchUnder(shell: string, home: string, settings: Settings = {}): Running {
  const args = ["-c", shell, "sh", process.execPath, ...programArgs("standalone")];
  return run("/bin/sh", args, home, { cwd: root, env: environment(home, settings) });
}

/** Starts the process; resolves when it reports that it is ready. */
export async function startStandalone(home: string, settings: Settings = {}): Promise<Standalone> {
  return ready(launchStandalone(home, settings));
}

export async function ready(running: Running): Promise<Standalone> {
  await running.printed(/^ready/m, readyMsMax);
  const out = running.out();
  return {
    ...running,
    url: /answers at (\S+) /.exec(out)?.[1] ?? "",
    operationsUrl: /metrics and health: (\S+)\)/.exec(out)?.[1] ?? "",
    key: /\bnf_live_\w+/.exec(out)?.[0] ?? "",
    stop() {
      running.child.kill("SIGTERM");
      return running.ended;
    },
  };
}

/** The end of a start that must fail. */
export function failingStart(home: string, settings: Settings = {}): Promise<Ended> {
  return launchStandalone(home, settings).ended;
}

/** Runs the command line on the data folder, with settings in its environment. */
export function netfactsWith(settings: Settings, home: string, ...args: string[]): Promise<Ended> {
  return run(process.execPath, [...programArgs("cli"), "--data-dir", home, ...args], home, {
    cwd: root,
    env: environment(home, settings),
  }).ended;
}

/** Runs the command line on the data folder. */
export function netfacts(home: string, ...args: string[]): Promise<Ended> {
  return netfactsWith({}, home, ...args);
}

/** The same with `--json`. @returns the parsed output. Throws with its error output if it fails. */
export function netfactsJson<T>(home: string, ...args: string[]): Promise<T> {
  return netfactsJsonWith({}, home, ...args);
}

export async function netfactsJsonWith<T>(settings: Settings, home: string, ...args: string[]): Promise<T> {
  const { code, out, err } = await netfactsWith(settings, home, ...args, "--json");
  if (code !== 0) throw new Error(`netfacts ${args.join(" ")}: exit ${code}: ${err}`);
  return JSON.parse(out) as T;
}

/** Whether a process listens on a port of loopback. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      done(true);
    });
    socket.once("error", () => done(false));
  });
}
