/** A newcomer's machine: a fresh clone, an old Node first on PATH, an empty home, an environment of its own, not root. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";

const repository = join(import.meta.dirname, "..", "..");

/** The user `nobody` of most systems; used when the tests run as root. */
const nobody = 65_534;

/** What a machine needs to reach its registries is the machine's, not the user's. */
const inherited = /^(npm_config_registry|npm_config_cache|pip_.*|(https?|no)_proxy|node_extra_ca_certs|ssl_cert_(file|dir)|lang)$/i;

/** A process and all that it printed so far. */
export interface Started {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly printed: { out: string; err: string };
  /** Its status, or the name of the signal that ended it. */
  readonly ended: Promise<number | string>;
}

export class Newcomer {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "netfacts-newcomer-")));
  readonly clone = join(this.folder, "netfacts");
  readonly home = join(this.folder, "home");
  readonly bin = join(this.folder, "bin");
  readonly #user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
  readonly #started: Started[] = [];

  constructor() {
    for (const folder of [this.home, this.bin]) mkdirSync(folder);
    this.program("node", '[ "$1" = --version ] && echo v18.0.0 && exit\nexit 1');
    execFileSync("git", ["clone", "--quiet", repository, this.clone]);
    if (this.#user.uid !== undefined) {
      execFileSync("chown", ["-R", `${nobody}:${nobody}`, this.folder]);
      chownSync(this.folder, nobody, nobody);
    }
  }

  /** Puts a shell program first on PATH. */
  program(name: string, script: string): void {
    const path = join(this.bin, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }

  /** Copies a file of the tests to where the newcomer may read it. */
  bring(path: string): string {
    const copy = join(this.folder, basename(path));
    copyFileSync(path, copy);
    chmodSync(copy, 0o644);
    return copy;
  }

  get environment(): Record<string, string> {
    const env: Record<string, string> = { PATH: this.#path(), HOME: this.home };
    for (const [name, value] of Object.entries(process.env)) {
      // Another user's cache may not be written to.
      if (name === "npm_config_cache" && this.#user.uid !== undefined) continue;
      if (inherited.test(name) && value !== undefined) env[name] = value;
    }
    return env;
  }

  /** Starts a program in the clone, in a process group of its own as a terminal does. */
  start(program: string, options: readonly string[], env: Record<string, string> = {}): Started {
    const child = spawn(program, options, {
      cwd: this.clone,
      env: { ...this.environment, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      ...this.#user,
    });
    const printed = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (text) => {
      printed.out += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      printed.err += text;
    });
    const ended = once(child, "close").then(([status, signal]) => status ?? signal);
    const started = { process: child, pid: child.pid ?? 0, printed, ended };
    this.#started.push(started);
    return started;
  }

  /** Ends what still runs and removes everything. */
  remove(): void {
    for (const { pid } of this.#started) if (groupLives(pid)) process.kill(-pid, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** The old Node, then what the tests were started with, without a Node that only the tests were given. */
  #path(): string {
    const ours = dirname(process.execPath);
    const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => {
      if (folder === "" || folder.includes("node_modules")) return false;
      return folder !== ours || existsSync(join(folder, "npm"));
    });
    return [this.bin, ...folders].join(delimiter);
  }
}

/** Waits until standard output has a match; fails with all that was printed when the process ends before. */
export async function untilPrinted({ process: child, printed, ended }: Started, pattern: RegExp): Promise<RegExpExecArray> {
  let over: number | string | undefined;
  void ended.then((status) => {
    over = status;
  });
  for (;;) {
    const match = pattern.exec(printed.out);
    if (match !== null) return match;
    if (over !== undefined) throw new Error(`ended (${over}) before it printed ${pattern}:\n${printed.out}\n${printed.err}`);
    await Promise.race([ended, once(child.stdout as NodeJS.ReadableStream, "data")]);
  }
}

/** Whether a process of the group still runs. */
export function groupLives(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
