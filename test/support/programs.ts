/** Starts programs in tests, from the bundle of the run: they start in a third of the time that the sources take. */

import { type ChildProcess, fork } from "node:child_process";
import { globSync } from "node:fs";
import { join, resolve } from "node:path";
import { compileCache } from "./compile-cache.ts";
import { runFolderVariable } from "./run-folder.ts";

const root = resolve(import.meta.dirname, "../..");

export type Program = "standalone" | "gateway-auth-quota" | "ip-routing" | "asn-prefix" | "rdns-resolver" | "ingest" | "cli";

/** Arguments of Node that run a program: from the bundle; outside a run of tests (the soak) from the sources. */
export function programArgs(program: Program): string[] {
  return argsOf(`services/${program}/src/main.ts`);
}

/** The same for a program of tests. @param path  path from the repository's root; must be one of `testPrograms`. */
export function testProgramArgs(path: string): string[] {
  return argsOf(path);
}

/** Starts a program of `testPrograms` that communicates by messages. @param env  environment in addition to `PATH`. */
export function forkTestProgram(path: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const given = argsOf(path);
  const own = { ...compileCache, PATH: process.env.PATH, NODE_NO_WARNINGS: "1" };
  return fork(given.at(-1) as string, args, { execArgv: given.slice(0, -1), env: { ...own, ...env } });
}

/** Paths of the programs of the packages' tests, and of the stores that their threads load by URL, found by their names. */
export function testPrograms(): string[] {
  return globSync("{libs,services}/*/test/**/*-{process,child,store}.ts", { cwd: root });
}

function argsOf(path: string): string[] {
  const run = process.env[runFolderVariable];
  return run === undefined ? ["--conditions=source", join(root, path)] : [join(run, "bundle", path.replace(/\.ts$/, ".js"))];
}
