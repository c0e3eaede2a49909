/** bgpdump, an independent reader of MRT files (Debian package `bgpdump`). */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { type FoundTool, findDebianTool } from "./debian.ts";

/** Looks at `BGPDUMP` in the environment, then in PATH, the cache and the registry. */
export function findBgpdump(): Promise<FoundTool> {
  return findDebianTool({ name: "bgpdump", variable: "BGPDUMP", packageName: "bgpdump", binary: "usr/bin/bgpdump" });
}

/**
 * The output of `bgpdump -m` for a file, in file order. bgpdump recognises gz and bz2 by the file's name.
 * It also exits with status 0 for a truncated file, with the lines before the damage.
 */
export async function* bgpdumpOutput(tool: Extract<FoundTool, { found: true }>, path: string): AsyncGenerator<Buffer, void, undefined> {
  const child = spawn(tool.command, ["-m", path], { stdio: ["ignore", "pipe", "ignore"], env: { ...process.env, ...tool.env } });
  const closed = once(child, "close");
  try {
    yield* child.stdout;
  } finally {
    if (child.exitCode === null) child.kill();
    await closed;
  }
  if (child.exitCode !== 0) throw new Error(`bgpdump ended with status ${child.exitCode} on ${path}`);
}

/** The lines of the output. Node's readline takes several times as long for the half million lines of a table. */
export async function* bgpdumpLines(tool: Extract<FoundTool, { found: true }>, path: string): AsyncGenerator<string, void, undefined> {
  let rest = "";
  for await (const piece of bgpdumpOutput(tool, path)) {
    const lines = (rest + piece.toString("latin1")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line;
  }
  if (rest !== "") yield rest;
}
