/** Processes of DNS servers for tests: finds a port that is free for UDP and TCP, waits for the first answer, and stops the process. */

import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FoundTool } from "./debian.ts";
import { freePort as freeTcpPort } from "./free-ports.ts";

export interface DnsProcess {
  /** `dns://127.0.0.1:port`. */
  readonly url: string;
  /** `127.0.0.1:port`, in the form of the setting RESOLVERS. */
  readonly address: string;
  readonly port: number;
  readonly pid: number;
  /** Ends it, frozen or not, and removes its folder. Does nothing the second time. */
  stop(): Promise<void>;
  /** Its log so far. */
  log(): string;
}

export interface DnsProgram {
  readonly tool: Extract<FoundTool, { found: true }>;
  readonly name: string;
  /** 0: any free one. */
  readonly port: number;
  /** Writes its files into the folder. @returns its arguments, which keep it in the foreground. */
  prepare(folder: string, port: number): Promise<readonly string[]>;
  /** A name that the server itself has records for: it is ready when it answers a query for it. */
  readonly probe: { readonly name: string; readonly type: "SOA" | "PTR" };
}

const startMsMax = 60_000;
/** Most attempts: another process may take the port before the server does, if only for one query of its own. */
const attemptsMax = 3;

export async function startDnsProcess(program: DnsProgram): Promise<DnsProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(program, program.port || (await freePort()));
    } catch (error) {
      if (attempt === attemptsMax) throw error;
    }
  }
}

async function startOnce({ tool, name, prepare, probe }: DnsProgram, port: number): Promise<DnsProcess> {
  const folder = await mkdtemp(join(tmpdir(), `netfacts-${name}-`));
  const args = await prepare(folder, port);
  const child = spawn(tool.command, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, ...tool.env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = once(child, "close");
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      // A frozen process handles a signal only after it has been resumed.
      child.kill("SIGCONT");
      child.kill("SIGTERM");
    }
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilAnswers(child, port, probe);
  } catch (error) {
    await stop();
    throw new Error(`${name} did not start on port ${port}:\n${log}`, { cause: error });
  }
  const address = `127.0.0.1:${port}`;
  return {
    url: `dns://${address}`,
    address,
    port,
    pid: child.pid ?? -1,
    stop,
    log: () => log,
  };
}

async function untilAnswers(child: ChildProcess, port: number, probe: DnsProgram["probe"]): Promise<void> {
  const resolver = new Resolver({ timeout: 250, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const deadline = performance.now() + startMsMax;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`ended with status ${child.exitCode}`);
    try {
      await resolver.resolve(probe.name, probe.type);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}

/** A port that is free for UDP and TCP on loopback. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await freeTcpPort();
    const udp = createSocket("udp4");
    const isFree = await new Promise<boolean>((resolve) => {
      udp.once("error", () => resolve(false));
      udp.bind(port, "127.0.0.1", () => resolve(true));
    });
    udp.close();
    if (isFree) return port;
  }
}
