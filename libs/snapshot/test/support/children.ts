/** Other processes of tests, with an environment of their own. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { compileCache } from "../../../../test/support/compile-cache.ts";

const env = {
  ...compileCache,
  PATH: process.env.PATH,
  NODE_OPTIONS: "--conditions=source --disable-warning=ExperimentalWarning",
} as NodeJS.ProcessEnv;
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export async function askChild<T>(child: ChildProcess, message: number): Promise<T> {
  child.send(message);
  const [answer] = (await once(child, "message")) as [T];
  return answer;
}

export async function endChild(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.disconnect();
  child.kill();
  await ended;
}

/** Runs a program of this folder through a shell line in which `$RUN` starts it; gives what it printed. */
export async function runChild(line: string, name: string, args: readonly string[]): Promise<string> {
  const shell = spawn("/bin/sh", ["-c", line.replace("$RUN", 'exec "$0" "$@"'), process.execPath, pathOf(name), ...args], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  shell.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await once(shell, "close");
  return text;
}
