/** What the DNS servers of the tests have in common: a port that is free for both transports, a start that is seen, an end by their own process id. */

import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { FoundTool } from "./debian.ts";

export interface DnsProcess {
  /** `dns://127.0.0.1:port`. */
  readonly url: string;
  /** `127.0.0.1:port`, as the setting RESOLVERS takes it. */
  readonly address: string;
  readonly port: number;
  readonly pid: number;
  /** Ends it, frozen or not, and removes its folder; nothing the second time. */
  stop(): Promise<void>;
  /** What it logged so far. */
  log(): string;
}

export interface DnsProgram {
  readonly tool: Extract<FoundTool, { found: true }>;
  readonly name: string;
  /** 0: any free one. */
  readonly port: number;
  /** Writes its files into the folder. @returns the arguments with which it stays in the foreground. */
  prepare(folder: string, port: number): Promise<readonly string[]>;
  /** A name with records of this type that it knows by itself: it is there once it answers. */
  readonly probe: { readonly name: string; readonly type: "SOA" | "PTR" };
}

const startMsMax = 60_000;
/** A port may be taken between our look and its start. */
const attemptsMax = 3;

export async function startDnsProcess(program: DnsProgram): Promise<DnsProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(program, program.port || (await freePort()));
    } catch (error) {
      if (program.port !== 0 || attempt === attemptsMax) throw error;
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
      // A frozen process takes its signal only once it goes on.
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

/** A port of loopback that is free for UDP and TCP. */
export async function freePort(): Promise<number> {
  for (;;) {
    const tcp = createServer().listen(0, "127.0.0.1");
    await once(tcp, "listening");
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket("udp4");
    const isFree = await new Promise<boolean>((resolve) => {
      udp.once("error", () => resolve(false));
      udp.bind(port, "127.0.0.1", () => resolve(true));
    });
    udp.close();
    await new Promise((resolve) => tcp.close(resolve));
    if (isFree) return port;
  }
}
