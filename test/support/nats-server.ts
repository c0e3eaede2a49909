/** nats-server for tests: a foreign one, the one on PATH, the cached one, built by Go, or Debian's. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type FoundTool, findDebianTool, findInstalledTool, isProgram } from "./debian.ts";
import { freePort } from "./free-ports.ts";
import { freezeProcess } from "./frozen.ts";
import { askForServer } from "./shared-server.ts";
import { toolCache, withLock } from "./tool-cache.ts";

/** The first line with per-key expiry in buckets; scripts/doctor.sh names it too. */
export const natsServerVersion = "2.11.4";
/** Names a server that runs already, with JetStream; tests then share it and keep to names of their own. */
export const natsUrlVariable = "NETFACTS_TEST_NATS_URL";

const debian = { name: "nats-server", variable: "NATS_SERVER", packageName: "nats-server", binary: "usr/sbin/nats-server" };
const run = promisify(execFile);
const startMsMax = 60_000;

export interface NatsServerOptions {
  /** Default: no. */
  readonly jetstream?: boolean;
  /** Default: a free one. Give the port of a server that was stopped to start it again where its clients look. */
  readonly port?: number;
  /** Where JetStream keeps its files, kept at `stop`. Default: a temporary folder, removed at `stop`. */
  readonly storeDir?: string;
  /** Further text of its configuration file: users and permissions, `max_payload: 65536`. */
  readonly config?: string;
  /**
   * True: a server of the test's own, which it can stop and freeze. It is so too when port, storeDir or config are given.
   * Default: the server of NETFACTS_TEST_NATS_URL; else an account of the server that all files of the run share, with JetStream, and
   * with subjects and buckets that no other file sees; else, outside a run, one of its own.
   */
  readonly own?: boolean;
}

export interface NatsServer {
  /** `nats://127.0.0.1:4222`; with user and password for a shared server. */
  readonly url: string;
  readonly port: number;
  /** null: a shared server, which can be neither killed nor frozen. */
  readonly pid: number | null;
  /** SIGTERM, and its end. Does nothing to a shared server, and nothing the second time. */
  stop(): Promise<void>;
  /** SIGKILL, and its end; a `storeDir` that was given stays. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay open and nothing is answered. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** Reads another text of its configuration file, without an end of connections; resolves when it has. */
  reload(config: string): Promise<void>;
  /** What it logged so far. */
  log(): string;
}

/** Looks in the order of this file's head, without the foreign one. Cost: one file look-up when found, 40 s when Go has to build it. */
export async function findNatsServer(): Promise<FoundTool> {
  const installed = await findInstalledTool(debian);
  if (installed !== null) return installed;
  const folder = join(toolCache(), `nats-server-${natsServerVersion}`);
  const command = join(folder, "nats-server");
  if (await isProgram(command)) return { found: true, command, env: {}, origin: "cache" };
  await mkdir(toolCache(), { recursive: true });
  return await withLock(`${folder}.lock`, async () => {
    if (await isProgram(command)) return { found: true, command, env: {}, origin: "cache" };
    const fault = await buildByGo(folder);
    if (fault === null) return { found: true, command, env: {}, origin: "registry" };
    const unpacked = await findDebianTool(debian);
    return unpacked.found
      ? unpacked
      : { found: false, remedy: `put nats-server ${natsServerVersion} on PATH (${fault}; ${unpacked.remedy})` };
  });
}

/** Leaves nothing behind but the program: modules and objects of the build go. Returns why not, or null. */
async function buildByGo(folder: string): Promise<string | null> {
  const work = await mkdtemp(`${folder}.`);
  // The compiler needs little memory, and a fifth less time when it seldom collects garbage.
  const own = { GOPATH: work, GOMODCACHE: join(work, "mod"), GOCACHE: join(work, "build"), GOBIN: join(work, "bin"), GOGC: "400" };
  // Without a toolchain of its own for this version, Go fetches one as a module.
  const options = { env: { ...process.env, HOME: process.env.HOME ?? work, ...own }, cwd: work };
  try {
    await run("go", ["version"], options);
    process.stderr.write(`building nats-server ${natsServerVersion} (about a minute, once)\n`);
    await run("go", ["install", `github.com/nats-io/nats-server/v2@v${natsServerVersion}`], options);
    await rename(join(work, "bin"), folder);
    return null;
  } catch (error) {
    const { code, message, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
    if (code === "ENOENT") return "no Go to build it";
    return `go install failed: ${(stderr?.trim() || message).split("\n").at(-1)}`;
  } finally {
    // Go writes modules read-only, and knows how to remove them.
    await run("go", ["clean", "-modcache"], options).catch(() => undefined);
    await rm(work, { recursive: true, force: true });
  }
}

/** Starts one on loopback; resolves when it takes connections. Throws when there is none to be had, or with its log when it does not start. */
export async function startNatsServer(options: NatsServerOptions = {}): Promise<NatsServer> {
  const { jetstream = false, port, storeDir, config, own = false } = options;
  const foreign = process.env[natsUrlVariable];
  if (!own && port === undefined && storeDir === undefined && config === undefined) {
    if (foreign) return unsignalled(foreign, natsUrlVariable);
    const shared = await askForServer("nats");
    if (shared !== null) return unsignalled(shared.url, "this run");
  }
  const tool = await findNatsServer();
  if (!tool.found) throw new Error(`nats-server is needed: ${tool.remedy}`);

  const folder = await mkdtemp(join(tmpdir(), "netfacts-nats-"));
  const args = ["-a", "127.0.0.1", "-p", String(port ?? (await freePort()))];
  if (jetstream) args.push("-js", "-sd", storeDir ?? join(folder, "store"));
  if (config !== undefined) {
    await writeFile(join(folder, "server.conf"), config);
    args.push("-c", join(folder, "server.conf"));
  }
  const child = spawn(tool.command, args, { stdio: ["ignore", "ignore", "pipe"], env: { PATH: process.env.PATH, ...tool.env } });
  const ended = once(child, "close");
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    await untilReady(child, () => log);
  } catch (error) {
    await end("SIGKILL");
    await removeFolder();
    throw error;
  }
  const listening = Number(/client connections on 127\.0\.0\.1:(\d+)/.exec(log)?.[1]);
  return {
    url: `nats://127.0.0.1:${listening}`,
    port: listening,
    pid: child.pid ?? null,
    async stop() {
      // A frozen process takes its signal only once it goes on.
      child.kill("SIGCONT");
      await end("SIGTERM");
      await removeFolder();
    },
    async kill() {
      await end("SIGKILL");
      await removeFolder();
    },
    freeze: () => freezeProcess(child.pid as number),
    thaw: () => void child.kill("SIGCONT"),
    async reload(text) {
      await writeFile(join(folder, "server.conf"), text);
      const from = log.length;
      child.kill("SIGHUP");
      const until = performance.now() + startMsMax;
      while (!/Reloaded server configuration|Failed to reload/.test(log.slice(from))) {
        if (performance.now() > until) throw new Error(`nats-server did not read its configuration again:\n${log}`);
        await sleep(10);
      }
    },
    log: () => log,
  };
}

function untilReady(child: ChildProcess, log: () => string): Promise<void> {
  return new Promise((done, fail) => {
    const settle = (fault: string | null) => {
      clearTimeout(timer);
      child.stderr?.off("data", look);
      if (fault === null) done();
      else fail(new Error(`nats-server ${fault}:\n${log()}`));
    };
    const look = () => {
      if (log().includes("Server is ready")) settle(null);
    };
    const timer = setTimeout(() => settle(`was not ready within ${startMsMax} ms`), startMsMax);
    child.stderr?.on("data", look);
    child.once("error", (error) => settle(`does not run: ${error.message}`));
    child.once("close", () => settle("ended at its start"));
  });
}

/** A server that others use too. */
function unsignalled(url: string, owner: string): NatsServer {
  const refuse = (): never => {
    throw new Error(`the server of ${owner} is not ours to signal: ask for an own one`);
  };
  return {
    url,
    port: Number(new URL(url).port || 4222),
    pid: null,
    stop: async () => undefined,
    kill: async () => refuse(),
    freeze: refuse,
    thaw: refuse,
    reload: async () => refuse(),
    log: () => "",
  };
}
