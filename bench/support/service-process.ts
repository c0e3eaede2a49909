/** Services as processes of their own, as they run in production; their logs go to files, which costs nobody else anything. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const startMsMax = 120_000;
/** Of `/proc/PID/stat`. */
const ticksPerSecond = 100;

export interface ServiceProcess {
  readonly name: string;
  readonly pid: number;
  /** The first match in what it logged, as soon as there is one. @throws Error with the log when it ends before. */
  logged(pattern: RegExp): Promise<RegExpExecArray>;
  /** SIGTERM, and its end. */
  stop(): Promise<void>;
}

export interface ProcessOptions {
  /** Of the process, and of its log in `folder`. */
  readonly name: string;
  readonly folder: string;
  /** Added to ours. */
  readonly env?: NodeJS.ProcessEnv;
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
}

/**
 * Starts a program by its path from the repository's root. With BENCH_CPU_PROF it writes a profile of its processor time into a folder of
 * its name there.
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

/** Processor time that a process used so far, in seconds. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Resident memory now, and at its highest, in MiB. */
export function residentMib(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const of = (name: string) => Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) / 1024);
  return { now: of("VmRSS"), peak: of("VmHWM") };
}
