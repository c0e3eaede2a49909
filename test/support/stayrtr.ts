/** stayrtr (Debian package `stayrtr`), an RTR cache for an rpki-client export, which it reads every second. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FoundTool, findDebianTool } from "./debian.ts";
import { freePort } from "./free-ports.ts";
import { isListening } from "./processes.ts";
import { type ExportedRoa, writeFreshExport } from "./rpki-export.ts";

/** Looks at `STAYRTR` in the environment, then in PATH, the cache and the registry. */
export function findStayrtr(): Promise<FoundTool> {
  return findDebianTool({ name: "stayrtr", variable: "STAYRTR", packageName: "stayrtr", binary: "usr/bin/stayrtr" });
}

export interface Stayrtr {
  readonly url: string;
  /** Replaces the ROAs. Within some two seconds it serves them, and notifies all routers. */
  serve(roas: readonly Omit<ExportedRoa, "expires">[]): void;
  /** Its log so far. */
  log(): string;
  stop(): Promise<void>;
}

export interface StayrtrOptions {
  /** Highest version of the protocol. Default: 2, which is a draft. */
  readonly protocol?: number;
  /** Certificate and key files for TLS; `url` is then `rtr+tls://localhost:…`. */
  readonly tls?: { readonly certificate: string; readonly key: string };
}

/** Resolves when it accepts connections. Throws if stayrtr is not found, or does not start. */
export async function startStayrtr(
  roas: readonly Omit<ExportedRoa, "expires">[],
  { protocol = 2, tls }: StayrtrOptions = {},
): Promise<Stayrtr> {
  const tool = await findStayrtr();
  if (!tool.found) throw new Error(`stayrtr is needed: ${tool.remedy}`);
  const folder = mkdtempSync(join(tmpdir(), "netfacts-stayrtr-"));
  const path = join(folder, "export.json");
  writeFreshExport(path, roas);
  let output = "";
  // Another process may take the free port before stayrtr does.
  for (let attempt = 0; attempt < 5; attempt++) {
    const port = await freePort();
    const bind =
      tls === undefined
        ? ["-bind", `127.0.0.1:${port}`]
        : ["-bind", "", "-tls.bind", `127.0.0.1:${port}`, "-tls.cert", tls.certificate, "-tls.key", tls.key];
    const args = [...bind, "-metrics.addr", "", "-cache", path, "-refresh", "1", "-protocol", `${protocol}`];
    const child = spawn(tool.command, args, {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH, ...tool.env },
    });
    output = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    if (await listens(child, port)) {
      return {
        url: tls === undefined ? `rtr://127.0.0.1:${port}` : `rtr+tls://localhost:${port}`,
        serve: (next) => writeFreshExport(path, next),
        log: () => output,
        async stop() {
          await end(child);
          rmSync(folder, { recursive: true, force: true });
        },
      };
    }
    await end(child);
  }
  rmSync(folder, { recursive: true, force: true });
  throw new Error(`stayrtr did not start:\n${output}`);
}

const startMsMax = 60_000;

/** Waits until it listens or has ended. */
async function listens(child: ChildProcess, port: number): Promise<boolean> {
  const deadline = performance.now() + startMsMax;
  while (child.exitCode === null && child.signalCode === null && performance.now() < deadline) {
    if (await isListening(port)) return child.exitCode === null;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
