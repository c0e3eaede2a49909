/** Runs command lines: in this process with captured output, or as the real program. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { openSqliteStore } from "@netfacts/storage";
import { compileCache } from "../../../../test/support/compile-cache.ts";
import { programArgs } from "../../../../test/support/programs.ts";
import { runCli } from "../../src/app.ts";

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** The time that commands in this process see. */
export const now = Date.UTC(2026, 10, 21, 9);

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "netfacts-cli-"));
}

/** With an empty store, as an installation without keys has one. */
export async function withStore(dataDir: string): Promise<string> {
  await (await openSqliteStore(join(dataDir, "store.sqlite"))).close();
  return dataDir;
}

export async function run(dataDir: string, ...args: string[]): Promise<Ran> {
  return runWith([], dataDir, ...args);
}

/** With what comes on standard input. */
export async function runWith(stdin: Iterable<Uint8Array>, dataDir: string, ...args: string[]): Promise<Ran> {
  const [out, err] = [capture(), capture()];
  const context = { stdin: () => Readable.from(stdin), stdout: out.stream, stderr: err.stream, isTerminal: false, now: () => now };
  const code = await runCli(["--data-dir", dataDir, ...args], context);
  return { code, out: out.text(), err: err.text() };
}

/** Runs with `--json` and reads what it prints. */
export async function runJson(dataDir: string, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await run(dataDir, ...args, "--json");
  if (code !== 0) throw new Error(`exit ${code}: ${err}`);
  return JSON.parse(out) as Record<string, unknown>;
}

export function runProcess(dataDir: string, ...args: string[]): Promise<Ran> {
  return runProcessWith({}, dataDir, ...args);
}

/** @param settings  its environment. */
export function runProcessWith(settings: Readonly<Record<string, string>>, dataDir: string, ...args: string[]): Promise<Ran> {
  return runProgram(settings, "--data-dir", dataDir, ...args);
}

/** Without a data folder: only what its environment and its arguments say. */
export async function runProgram(settings: Readonly<Record<string, string>>, ...args: string[]): Promise<Ran> {
  const child = spawn(process.execPath, [...programArgs("cli"), ...args], {
    env: { ...compileCache, NODE_NO_WARNINGS: "1", ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err, exit] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: exit[0] as number | null, out, err };
}

function capture(): { stream: Writable; text: () => string } {
  let all = "";
  const stream = new Writable({
    write(chunk, _encoding, done) {
      all += String(chunk);
      done();
    },
  });
  return { stream, text: () => all };
}
