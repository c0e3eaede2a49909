/** Services as separate processes, as in production. Their logs go to files, which costs other processes nothing. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const startMsMax = 120_000;
/** Unit of times in `/proc/PID/stat`. */
const ticksPerSecond = 100;

export interface ServiceProcess {
  readonly name: string;
  readonly pid: number;
  /** Waits for the first match in its log. @throws Error with the log if it ends before. */
  logged(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  /** Name of the process, and of its log in `folder`. */
  readonly name: string;
  readonly folder: string;
  /** Variables that are added to this process's environment. */
  readonly env?: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
}

/**
 * Starts a program by its path from the repository's root. If BENCH_CPU_PROF names a folder, it writes a CPU profile into a subfolder with the
 * name of the process.
 */
export function startProcess(program: string, { name, folder, env, args = [], nodeArgs = [] }: ProcessOptions): ServiceProcess {
  const log = join(folder, `${name}.log`);
  const file = openSync(log, "a");
  const profile = process.env.BENCH_CPU_PROF === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${process.env.BENCH_CPU_PROF}/${name}`];
  const own = ["--conditions=source", "--no-warnings", ...profile, ...nodeArgs, resolve(root, program), ...args];
  const child: ChildProcess = spawn(process.execPath, own, {
    env: { ...process.env, NODE_OPTIONS: "", PORT: "0", TELEMETRY_PORT: "0", ...env },
    stdio: ["ignore", file, file],
  });
  closeSync(file);
  const ended = once(child, "exit");
  const isOver = () => child.exitCode !== null || child.signalCode !== null;
  return {
    name,
    pid: child.pid ?? -1,
    async logged(pattern) {
      const deadline = performance.now() + startMsMax;
      for (;;) {
        const text = readFileSync(log, "utf8");
        const match = pattern.exec(text);
        if (match !== null) return match;
        if (isOver() || performance.now() > deadline) throw new Error(`${name} did not log ${pattern}:\n${text.slice(-4_000)}`);
        await sleep(20);
      }
    },
    async stop() {
      if (!isOver()) child.kill("SIGTERM");
      await ended;
    },
  };
}

export function startService(service: string, options: Omit<ProcessOptions, "name"> & { readonly name?: string }): ServiceProcess {
  return startProcess(`services/${service}/src/main.ts`, { name: service, ...options });
}

/** Processor time of a process so far, in seconds. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Current and highest resident memory in MiB. */
export function residentMib(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024);
  return { now: of("VmRSS"), peak: of("VmHWM") };
}
