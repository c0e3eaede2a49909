/** A folder that stands for a fresh clone, and a machine that has only the programs named: for tests of the shell scripts. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  accessSync,
  chmodSync,
  constants,
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";

const repository = join(import.meta.dirname, "..", "..");

/** What the scripts themselves use. */
const tools = [
  "sh",
  "awk",
  "cat",
  "chmod",
  "cmp",
  "dirname",
  "du",
  "env",
  "find",
  "ln",
  "mkdir",
  "mv",
  "ps",
  "readlink",
  "rm",
  "sleep",
  "tail",
  "tar",
  "uname",
];

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export class Sandbox {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "netfacts-house-")));
  /** The clone. */
  readonly root = join(this.folder, "clone");
  /** The only folder on PATH. */
  readonly bin = join(this.folder, "bin");
  readonly home = join(this.folder, "home");

  constructor() {
    for (const folder of [this.root, this.bin, this.home]) mkdirSync(folder);
    for (const part of ["scripts", "bin"]) cpSync(join(repository, part), join(this.root, part), { recursive: true });
    for (const tool of tools) symlinkSync(programOnPath(tool), join(this.bin, tool));
    this.write("package-lock.json", "{}\n");
  }

  /** Puts a file into the clone. */
  write(path: string, text: string): void {
    const full = join(this.root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }

  /** Puts a shell program on PATH, or into `folder`. */
  program(name: string, script: string, folder = this.bin): void {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }

  /** Puts this process's own Node on PATH, or into `folder`. */
  realNode(folder = this.bin): void {
    mkdirSync(folder, { recursive: true });
    symlinkSync(process.execPath, join(folder, "node"));
  }

  start(program: string, options: readonly string[] = [], env: Record<string, string> = {}): ChildProcess {
    return spawn(program, options, { cwd: this.root, env: { PATH: this.bin, HOME: this.home, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  }

  async run(program: string, options: readonly string[] = [], env: Record<string, string> = {}): Promise<Ended> {
    return ended(this.start(program, options, env));
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What a process printed until it ended. */
export async function ended(child: ChildProcess): Promise<Ended> {
  let out = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    err += text;
  });
  const [status] = await once(child, "close");
  return { status, out, err };
}

/** @throws when the machine has no such program. */
function programOnPath(name: string): string {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return join(folder, name);
    } catch {}
  }
  throw new Error(`${name} is not on PATH`);
}
